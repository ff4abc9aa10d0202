import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  compositionsOfPatient,
  DEMO_TEMPLATES,
  seededRandom,
  templateText,
} from '../../../cli/demo/patient.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';

const EHRS = 100;
const COMPOSITIONS = 20;
/** Of the rate of an import that commits the same anew. */
const LEAST = 0.8;
const TURNS = 4;

useDatabase();
const place = mkdtempSync(join(tmpdir(), 'everchart-rate-'));
const run = (...args: string[]): Promise<CommandResult> =>
  runCommand([...args, '--local'], {
    LOG_LEVEL: 'warn',
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
  });

async function givenTemplates(): Promise<void> {
  const files = DEMO_TEMPLATES.map((name) => {
    const file = join(place, `${name}.opt`);
    writeFileSync(file, templateText(name));
    return file;
  });
  expect((await run('template', 'upload', ...files)).code).toBe(0);
}

/** Seconds that an import took. @throws when it imported less */
function secondsOf({ code, stdout, stderr }: CommandResult): number {
  expect(code === 0 ? '' : stderr).toBe('');
  const [, seconds = ''] = / 0 failed, ([\d.]+) s/.exec(stdout) ?? [];
  return Number(seconds);
}

beforeAll(async () => {
  await emptied();
  await givenTemplates();
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

it('an export of all versions comes in at 0.8 of the rate of a committing import, or faster', async () => {
  const records = Array.from({ length: EHRS }, (_, index) => {
    const ehr_id = randomUUID();
    return compositionsOfPatient(seededRandom(index), COMPOSITIONS).map((composition) => ({
      ehr_id,
      composition,
    }));
  });
  const latest = join(place, 'latest.ndjson');
  writeFileSync(
    latest,
    records
      .flat()
      .map((record) => JSON.stringify(record))
      .join('\n'),
  );
  const whole = join(place, 'whole.ndjson');
  const committed = [secondsOf(await run('import', latest))];
  expect((await run('export', '--all-versions', '--output', whole)).code).toBe(0);
  const restored: number[] = [];
  // In turns, and the least of each: what else the machine does is none of theirs.
  const rate = (): number => Math.min(...committed) / Math.min(...restored);
  for (let turn = 0; turn < TURNS && !(rate() >= LEAST); turn += 1) {
    if (turn > 0) {
      await emptied();
      await givenTemplates();
      committed.push(secondsOf(await run('import', latest)));
    }
    await emptied();
    restored.push(secondsOf(await run('import', whole)));
  }
  expect(rate()).toBeGreaterThanOrEqual(LEAST);
}, 600_000);
