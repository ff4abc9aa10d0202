import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { demoClient, loadDemoData } from '../../../cli/demo/load.js';
import type { Settings } from '../../../config/settings.js';
import { testServer } from '../app.js';
import { startBrowser } from './browser.js';
import { useDatabase } from '../database.js';
import { testSettings } from '../settings.js';
import { bearer, WITH_ADMIN } from '../tokens.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const BUILT = new URL('../../../console/dist/index.html', import.meta.url);
const PATIENTS = { ehrs: 3, compositionsPerEhr: 6, seed: 7, parallel: 3 };
/** A machine that does other things stands still for longer than a page takes. */
const WAIT_MS = 60_000;
/** What axe checks: WCAG 2.2 AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Until nothing has changed for a moment: axe cannot look at what goes away meanwhile. */
const QUIET = `new Promise((resolve) => {
  const [quiet, most] = [150, 3000];
  let timer = setTimeout(end, quiet);
  const watcher = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(end, quiet);
  });
  watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  setTimeout(end, most);
  function end() {
    watcher.disconnect();
    resolve();
  }
})`;

/** Contrast in the other one of light and dark, which alone depends on it. */
const OTHER_SCHEME = `(async () => {
  const before = document.documentElement.getAttribute('data-mantine-color-scheme');
  // As another tab of the console would tell it.
  const show = async (newValue) => {
    const told = { key: 'mantine-color-scheme-value', newValue, storageArea: localStorage };
    window.dispatchEvent(new StorageEvent('storage', told));
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  };
  await show(before === 'dark' ? 'light' : 'dark');
  const { violations } = await axe.run(document, { runOnly: ['color-contrast'] });
  await show(before);
  return violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => html + any.map(({ message }) => message)));
})()`;

/** The console on a server with the demo's first three patients, in a browser that has a new page for each test. */
export interface ConsoleInBrowser {
  readonly page: Page;
  readonly url: string;
  /** Shows a view, by its address behind `#`. */
  readonly open: (view: string) => Promise<unknown>;
  /** An error that the browser reports with this text is no failure: the test asked for it. */
  readonly forgive: (text: string) => void;
  /** The same of all that are reported in this test, also later: several requests were refused, and come when they come. */
  readonly forgiveAll: (text: string) => void;
  /** Puts a text in place of what the editor of queries holds, by keys: filled at once, both may stand in it. */
  readonly write: (aql: string) => Promise<void>;
  /** Signs in with a token that has these roles, where the page asks for one. */
  readonly pasteToken: (roles: readonly string[], user?: string) => Promise<void>;
  /** Nothing failed, nothing left the server, and axe finds nothing. */
  readonly expectGood: () => Promise<void>;
}

/** Prepares server, data and browser around the tests of a file. `timezoneId`: where the reader's clock is. */
export function useConsole(
  settings: Partial<Settings> = {},
  reader: { readonly timezoneId?: string } = {},
): ConsoleInBrowser {
  useDatabase();
  let server: Server | undefined;
  let browser: Browser | undefined;
  let page: Page;
  let url = '';
  let failures: string[] = [];
  let forgiven: string[] = [];

  beforeAll(async () => {
    if (!existsSync(BUILT)) throw new Error('the console is not built: npm run build:console says why');
    server = await testServer(testSettings({ ...WITH_ADMIN, auth: 'none', ...settings }));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
    // Who has to sign in brings his own.
    if ((settings.auth ?? 'none') === 'none') await loadDemoData(demoClient(url), PATIENTS, () => undefined);
  });
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (server === undefined ? resolve(null) : server.close(resolve)));
  });
  beforeEach(async () => {
    page = await browser!.newPage({
      locale: 'en-GB',
      ...reader,
      viewport: { width: 1440, height: 900 },
      // Nothing is looked at while it fades.
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(WAIT_MS);
    failures = [];
    forgiven = [];
    page.on('pageerror', (error) => failures.push(error.message));
    // What the policy of the page refuses is an error on its console.
    page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url))
        failures.push(request.url());
    });
  });
  afterEach(async () => {
    await page.close();
  });

  return {
    get page() {
      return page;
    },
    get url() {
      return url;
    },
    open: (view) => page.goto(`${url}/console#${view}`),
    forgive: (text) => {
      failures = failures.filter((failure) => !failure.includes(text));
    },
    forgiveAll: (text) => {
      forgiven.push(text);
    },
    write: async (aql) => {
      await page.locator('.cm-content').press('Control+A');
      await page.keyboard.press('Backspace');
      if (aql !== '') await page.keyboard.insertText(aql);
    },
    pasteToken: async (roles, user) => {
      await page.getByLabel('Token').fill(bearer(roles, user).replace('Bearer ', ''));
      await page.locator('main button[type=submit]').click();
    },
    expectGood: async () => {
      expect(await axeFindings(page)).toEqual([]);
      expect(failures.filter((failure) => !forgiven.some((text) => failure.includes(text)))).toEqual([]);
    },
  };
}

/** What axe finds on a page of the console when it is quiet, in light and dark. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(QUIET);
  // By the protocol of the browser: the policy of the page allows no script of ours.
  await page.evaluate(AXE);
  const found = await page.evaluate<string[]>(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.map((node) => node.html).slice(0, 3).join(' ')))`);
  return [...found, ...(await page.evaluate<string[]>(OTHER_SCHEME))];
}

/** What of a page that is quiet stands out of its right edge, so that it scrolls sideways; nothing: it does not. */
export async function beyondEdge(page: Page): Promise<string[]> {
  await page.evaluate(QUIET);
  return page.evaluate<string[]>(`(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    return scrollWidth <= clientWidth ? [] : [String(scrollWidth), ...[...document.querySelectorAll('body *')]
      .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
      .map((each) => each.tagName + '.' + each.className).slice(0, 5)];
  })()`);
}
