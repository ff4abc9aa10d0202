import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect } from '@jest/globals';

/** A program that walks: the server and the template of the walk stand in its environment. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const UID = /^[0-9a-f-]{36}::\S+::/.source;

/** What each client prints of the walk: upload, EHR, commits with and without `Prefer`, read, correct, queries, a refusal. */
const EXPECTED: readonly RegExp[] = [
  /^template (201|409)$/,
  /^ehr [0-9a-f-]{36}$/,
  new RegExp(`^minimal ${UID.slice(1)}1$`),
  new RegExp(`^whole ${UID.slice(1)}1$`),
  new RegExp(`^read COMPOSITION ${TEMPLATE}$`),
  new RegExp(`^corrected ${UID.slice(1)}2$`),
  /^rows 2 uid$/,
  /^stored 2$/,
  /^error 422 unprocessable true$/,
];

/** Runs a command to its end. @throws Error with all that it printed when it ends with another code than 0 */
export async function output(program: Program): Promise<string> {
  const { command, args, cwd, env = {} } = program;
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env, NODE_OPTIONS: '' } });
  let [printed, said] = ['', ''];
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${String(code)}\n${printed}\n${said}`.slice(-6_000));
  return printed;
}

/** The walk of a client ends as every other's does. */
export async function expectWalk(url: string, program: Program): Promise<void> {
  const env = {
    CDR: url,
    TEMPLATE,
    OPT: resolve(`test/fixtures/openehr/opt/${TEMPLATE}.opt`),
    ...program.env,
  };
  const lines = (await output({ ...program, env })).trim().split('\n');
  expect(lines).toEqual(EXPECTED.map((line) => expect.stringMatching(line)));
}

/** A folder for what is generated, until the tests of the file have ended. */
export function generatedFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'everchart-client-'));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** The document as the server gives it, in a file; `minimal` is for clients that read a body wherever one is described. */
export async function writeDocument(url: string, folder: string, writes: 'any' | 'minimal'): Promise<string> {
  const file = join(folder, 'openapi.json');
  const answer = await fetch(`${url}/rest/openapi.json${writes === 'minimal' ? '?writes=minimal' : ''}`);
  writeFileSync(file, await answer.text());
  return file;
}
