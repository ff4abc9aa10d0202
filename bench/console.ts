import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { hasBrowser, startBrowser } from '../test/support/browser/browser.js';

const DIST = new URL('../console/dist/', import.meta.url);
const RUNS = 5;
const ROWS = 100_000;
/** Steps of scrolling that are looked at, one for each frame. */
const FRAMES = 240;

/** Size of the console as it is first loaded, and until its first page answers to a click. */
export async function benchConsole(url: string, print: (line: string) => void): Promise<void> {
  const size = (name: string): number => gzipSync(readFileSync(new URL(name, DIST))).length / 1000;
  const page = readFileSync(new URL('index.html', DIST), 'utf8');
  const first = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => size(name ?? ''));
  const all = readdirSync(new URL('assets/', DIST)).map((name) => size(`assets/${name}`));
  const sum = (sizes: readonly number[]): string => sizes.reduce((total, each) => total + each, 0).toFixed(0);
  print(`first load: ${sum(first)} KB gzip in ${first.length} files; everything: ${sum(all)} KB`);
  if (!hasBrowser) print('no Chromium here: time to interactive is not measured');
  else {
    print(
      `interactive after ${await timesToInteractive(url)} ms (${RUNS} runs, each in a new browser context)`,
    );
    print(`scrolling ${ROWS} rows: ${await framesOfGrid(url)}`);
  }
}

/** How long frames take while the grid is scrolled by more than a screen each, and through the whole of it. */
async function framesOfGrid(url: string): Promise<string> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.route('**/query/aql', (route) => route.fulfill({ json: wideAnswer() }));
    await page.goto(`${url}/console#/query`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.rows [role=cell]').first().waitFor();
    const script = (step: string): string => `new Promise((resolve) => {
      const grid = document.querySelector('.rows');
      const times = [];
      let before = performance.now();
      grid.scrollTop = 0;
      const frame = () => {
        const now = performance.now();
        times.push(now - before);
        before = now;
        grid.scrollTop = ${step};
        if (times.length < ${FRAMES}) requestAnimationFrame(frame);
        else resolve(times.slice(5));
      };
      requestAnimationFrame(frame);
    })`;
    const wheel = await page.evaluate<number[]>(script('times.length * 120'));
    const drag = await page.evaluate<number[]>(script(`times.length / ${FRAMES} * grid.scrollHeight`));
    return `by the wheel ${spread(wheel)}, by the bar ${spread(drag)}`;
  } finally {
    await browser.close();
  }
}

function spread(times: readonly number[]): string {
  const sorted = [...times].sort((left, right) => left - right);
  const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0);
  return `median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms a frame`;
}

function wideAnswer(): object {
  const columns = ['time', 'name', 'systolic', 'diastolic', 'value', 'ehr'].map((name) => ({
    name,
    path: '',
  }));
  const rows = Array.from({ length: ROWS }, (_, index) => [
    new Date(index * 60_000).toISOString(),
    `Blood pressure ${index}`,
    100 + (index % 80),
    60 + (index % 40),
    { _type: 'DV_QUANTITY', magnitude: index % 80, units: 'mm[Hg]' },
    `7d44b88c-4199-4bad-97dc-d78268e0${String(index % 10_000).padStart(4, '0')}`,
  ]);
  return { q: '', columns, rows };
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
