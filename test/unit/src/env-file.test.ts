import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { envExample } from '../../../scripts/pages/env-example.js';
import { readEnvFile } from '../../../src/settings/env-file.js';
import { runCommand } from '../../support/process/command-line.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-env-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const put = (text: string): void => {
  writeFileSync(join(folder, '.env'), text);
};
const secret = { JWT_SECRET: 'a-secret-of-at-least-thirty-two-bytes!' };
/** The role in a token shows that a setting arrived. */
async function roleWith(env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await runCommand(['token'], env, folder);
  const claims = JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString()) as {
    roles: string[];
  };
  return claims.roles.join();
}

describe('.env in the working directory', () => {
  it('is read by a command, and what the environment has wins, empty variables too', async () => {
    put(`JWT_SECRET="${secret.JWT_SECRET}"\nROLE_USER=clinician # of the file\n`);
    expect(await roleWith({})).toBe('CLINICIAN');
    expect(await roleWith({ ROLE_USER: 'nurse' })).toBe('NURSE');
    expect(await roleWith({ ROLE_USER: '' })).toBe('USER');
  });

  it('is named beside each wrong setting that it gave, with the names that were meant', async () => {
    put('PORT=x\nMONGO_URI=mongodb://db\nAUDIT_READS=yes\n');
    const { code, stderr } = await runCommand(['start'], { HOST: '0.0.0.0', MONGODB_URI: '' }, folder);
    const file = join(folder, '.env');
    expect(code).toBe(1);
    expect(stderr).toContain(`PORT must be a number (from ${file})`);
    expect(stderr).toContain(`AUDIT_READS must be true or false, found yes (from ${file})`);
    expect(stderr).toContain(`there is no setting MONGO_URI; did you mean MONGODB_URI? (from ${file})`);
    expect(stderr).toMatch(/^ {2}MONGODB_URI is empty while HOST 0\.0\.0\.0/m);
  });

  it('may be absent', async () => {
    const { code, stderr } = await runCommand(['--version'], {}, folder);
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each([
    ['a line without =', 'PORT=1\n\n# comment\nJWT_SECRET a-secret-value\n', 'line 4'],
    ['a quote without end', 'A="x\ny"\nJWT_SECRET="a-secret-value\n', 'line 3'],
    ['a name with blanks', 'THE PORT=1\n', 'line 1'],
  ])('that is broken by %s ends a command with the place and no value', async (_, text, line) => {
    put(text);
    const { code, stderr, stdout } = await runCommand(['--version'], {}, folder);
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining(`${join(folder, '.env')}: ${line} `),
    ]);
    expect(stderr).not.toContain('a-secret-value');
  });

  it('that is a folder is named', () => {
    mkdirSync(join(folder, '.env'));
    expect(() => {
      readEnvFile(join(folder, '.env'));
    }).toThrow(/the settings cannot be read \(EISDIR\)/);
  });

  it('may have what people write into such files', async () => {
    put(`${envExample()}\r\nexport A="-----BEGIN\nlines\n-----END" # why\r\n  B='#1'\nC=a"b\nROLE_USER=last`);
    expect(await roleWith(secret)).toBe('LAST');
  });
});

it('is read by the command alone, so that tests and measurements never see it', () => {
  const root = new URL('../../../', import.meta.url);
  const sources = ['src', 'cli', 'bench', 'test', 'scripts'].flatMap((room) =>
    readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.m?[jt]s$/.test(file))
      .map((file) => `${room}/${file}`),
  );
  const text = (file: string): string => readFileSync(new URL(file, root), 'utf8');
  const readers = sources.filter((file) => /readEnvFile|loadEnvFile/.test(text(file)));
  expect(readers.sort()).toEqual([
    'src/everchart.mjs',
    'src/settings/env-file.ts',
    'test/unit/src/env-file.test.ts',
  ]);
  // Tests and measurements start the command only by these, which give it a folder without such a file.
  const starters = sources.filter(
    (file) => text(file).includes('everchart.mjs') && / spawn\(/.test(text(file)),
  );
  expect(starters.sort()).toEqual([
    'bench/compare.ts',
    'bench/own-server.ts',
    'scripts/stranger/installed.ts',
    'test/http/process/build.test.ts',
    'test/support/process/command.ts',
    'test/support/suites/command-groups.ts',
  ]);
});
