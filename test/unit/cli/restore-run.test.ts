import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { runRestore } from '../../../cli/transfer/restore-run.js';
import type { ImportState } from '../../../cli/transfer/import-progress.js';
import { openehrTerm, otherAudit, otherVersion } from '../../support/imported-version.js';

const EHR = '7d44b88c-4199-4bad-97dc-d78268e01398';
const OTHER = '7d44b88c-4199-4bad-97dc-d78268e01399';

const ehrLine = (ehrId: string): string =>
  JSON.stringify({
    kind: 'ehr',
    ehr: {
      _type: 'EHR',
      system_id: { _type: 'HIER_OBJECT_ID', value: 'old.system' },
      ehr_id: { _type: 'HIER_OBJECT_ID', value: ehrId },
      time_created: { _type: 'DV_DATE_TIME', value: '2020-01-01T00:00:00Z' },
    },
  });

/** A version without content, which is enough to be read. `characters`: how long its line is at least. */
function versionLine(ehrId: string, type: string, characters = 0): string {
  const version = {
    ...otherVersion({ uuid: randomUUID(), number: 2 }, { data: undefined }),
    commit_audit: otherAudit(2, '523', 'deleted'),
    lifecycle_state: openehrTerm('523', 'deleted'),
  };
  return JSON.stringify({ kind: 'version', ehr_id: ehrId, type, version, padding: 'x'.repeat(characters) });
}

/** How many lines each part has in which a file is restored. */
async function partsOf(lines: readonly string[]): Promise<number[]> {
  const sizes: number[] = [];
  let before = 0;
  const records = async function* () {
    for (const [index, text] of lines.entries()) {
      await Promise.resolve();
      yield { position: index + 1, file: null, text, size: text.length + 1, ehrId: null };
    }
  };
  const state: ImportState = {
    importId: randomUUID(),
    startedAt: '2020-01-01T00:00:00Z',
    ...{ position: 0, imported: 0, unchanged: 0, failed: 0, errorBytes: 0 },
    ...{ refusedEhrs: [], lostStatuses: [], emptyEhrs: [], causes: [] },
  };
  await runRestore({
    source: { isFolder: false, isFile: true, size: 0, records },
    state,
    target: {
      definitions: (definitions) =>
        Promise.resolve(definitions.map(({ position }) => ({ position, result: 'imported' as const }))),
      parts: (parts) =>
        Promise.resolve(
          parts.flatMap((part) =>
            part.lines.map(({ position }) => ({ position, result: 'imported' as const })),
          ),
        ),
    },
    parallel: 1,
    save: ({ position }) => {
      sizes.push(position - before);
      before = position;
    },
    maxErrors: Infinity,
    stopsAtConflict: true,
  });
  expect([state.failed, state.imported]).toEqual([0, lines.length - 1]);
  return sizes;
}

const HEADER = JSON.stringify({ kind: 'header', format: 'everchart-interchange', version: 1 });
const many = (count: number, line: () => string): string[] => Array.from({ length: count }, line);

describe('what is held of a file that is restored', () => {
  it('is some lines of an EHR that has many', async () => {
    const compositions = many(9_000, () => versionLine(EHR, 'COMPOSITION'));
    const sizes = await partsOf([HEADER, ehrLine(EHR), versionLine(EHR, 'EHR_STATUS'), ...compositions]);
    expect([Math.max(...sizes), sizes.length]).toEqual([2_000, 5]);
  });

  it('is some megabytes of an EHR whose lines are large', async () => {
    const mebibyte = 1024 * 1024;
    const compositions = many(30, () => versionLine(EHR, 'COMPOSITION', mebibyte));
    const sizes = await partsOf([HEADER, ehrLine(EHR), versionLine(EHR, 'EHR_STATUS'), ...compositions]);
    expect(Math.max(...sizes)).toBeLessThan(12);
  });

  it('is an EHR with each EHR_STATUS of its own, whatever it is', async () => {
    const statuses = many(3_000, () => versionLine(EHR, 'EHR_STATUS'));
    const lines = [HEADER, ehrLine(EHR), ...statuses, versionLine(EHR, 'COMPOSITION')];
    expect(await partsOf([...lines, ehrLine(OTHER), versionLine(OTHER, 'EHR_STATUS')])).toEqual([3_003, 2]);
    // Another EHR in between does not end it.
    expect(
      (
        await partsOf([...lines.slice(0, 1_000), versionLine(OTHER, 'COMPOSITION'), ...lines.slice(1_000)])
      )[0],
    ).toBe(3_004);
  });
});
