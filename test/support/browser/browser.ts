import { accessSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const browserPath = BROWSERS.find((path) => {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
});

/** Whether a Chromium is installed: tests of pages are skipped where there is none. */
export const hasBrowser = browserPath !== undefined;

/** A headless Chromium. Whoever starts it closes it. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath ?? '', args: FLAGS });
}
