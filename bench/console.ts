import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { hasBrowser, startBrowser } from '../test/support/browser/browser.js';

const DIST = new URL('../console/dist/', import.meta.url);
const RUNS = 5;

/** Size of the console as it is first loaded, and until its first page answers to a click. */
export async function benchConsole(url: string, print: (line: string) => void): Promise<void> {
  const size = (name: string): number => gzipSync(readFileSync(new URL(name, DIST))).length / 1000;
  const page = readFileSync(new URL('index.html', DIST), 'utf8');
  const first = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => size(name ?? ''));
  const all = readdirSync(new URL('assets/', DIST)).map((name) => size(`assets/${name}`));
  const sum = (sizes: readonly number[]): string => sizes.reduce((total, each) => total + each, 0).toFixed(0);
  print(`first load: ${sum(first)} KB gzip in ${first.length} files; everything: ${sum(all)} KB`);
  if (!hasBrowser) print('no Chromium here: time to interactive is not measured');
  else
    print(
      `interactive after ${await timesToInteractive(url)} ms (${RUNS} runs, each in a new browser context)`,
    );
}

/** From the request to a search field that takes the focus. */
async function timesToInteractive(url: string): Promise<string> {
  const browser = await startBrowser();
  const times: number[] = [];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const start = performance.now();
      await page.goto(`${url}/console#/patients`, { waitUntil: 'commit' });
      await page.getByRole('searchbox').click();
      times.push(Math.round(performance.now() - start));
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return times.join(', ');
}
