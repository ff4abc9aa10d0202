import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ImportFiles } from '../../../cli/transfer/import-progress.js';
import { openOutput } from '../../../cli/output.js';

const folder = mkdtempSync(join(tmpdir(), 'everchart-private-'));
const file = (name: string): string => join(folder, name);
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function write(path: string): Promise<void> {
  const output = openOutput(path);
  await output.write('{}\n');
  await output.end();
}

describe('what is exported', () => {
  it('is a file of this user alone, also where one was open to others', async () => {
    writeFileSync(file('old.ndjson'), 'something older and longer');
    chmodSync(file('old.ndjson'), 0o644);
    for (const path of [file('new.ndjson'), file('old.ndjson')]) {
      await write(path);
      expect([mode(path), readFileSync(path, 'utf8')]).toEqual(['600', '{}\n']);
    }
  });

  it('may go to a device', async () => {
    const before = mode('/dev/null');
    await write('/dev/null');
    expect(mode('/dev/null')).toBe(before);
  });

  it('fails with the reason where the file cannot be made', async () => {
    await expect(write(file('missing/out.ndjson'))).rejects.toThrow(/ENOENT.*missing\/out\.ndjson/);
  });
});

it('an import notes progress and errors in files of this user alone, also those of an interrupted run', () => {
  const [progress, errors] = [file('progress.json'), file('errors.ndjson')];
  const failed = [{ line: 1, status: 422, message: 'no' }];
  const first = new ImportFiles(progress, errors);
  first.save(first.open().state, failed);
  expect([mode(progress), mode(errors)]).toEqual(['600', '600']);
  chmodSync(errors, 0o644);
  const second = new ImportFiles(progress, errors);
  const { state, isResumed } = second.open();
  second.save(state, failed);
  expect([isResumed, mode(progress), mode(errors)]).toEqual([true, '600', '600']);
  expect(readFileSync(errors, 'utf8').split('\n')).toHaveLength(3);
});
