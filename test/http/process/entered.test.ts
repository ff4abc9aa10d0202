import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

it('enters no more functions and files in a commit, a query and a merge than their budgets', async () => {
  const program = ['--import', 'tsx', 'scripts/entered.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: ROOT }).catch(
    (failure: unknown) => failure as { readonly stdout: string },
  );
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'POST composition',
    'POST query/aql',
    'POST admin/ehr/merge',
  ]);
  for (const line of lines) {
    const [functions, mostFunctions, files, mostFiles] = (line.match(/\d+/g) ?? []).map(Number);
    expect({ line, isWithin: functions! <= mostFunctions! && files! <= mostFiles! }).toEqual({
      line,
      isWithin: true,
    });
  }
});
