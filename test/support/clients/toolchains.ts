import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Programs of other languages, built once for each version where their tool chain is there. What a tool chain that is there cannot
 * get or build is a failure: skipped tests would be green where nothing was tested.
 */
const CACHE = resolve('node_modules/.cache/everchart-programs');
const LONGEST_MS = 1_500_000;

function folderFor(text: string): string {
  return join(CACHE, createHash('sha256').update(text).digest('hex').slice(0, 16));
}

const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Null, with a line that says which tool chain is not there. */
function without(what: string, tool: string): null {
  process.stderr.write(`${what}: its tests are skipped, since there is no ${tool} here\n`);
  return null;
}

/** Whether Go is there for the tests of what it builds; a line says so where it is not. */
export function hasGo(what: string): boolean {
  const isThere = runs('go', 'version');
  if (!isThere) without(what, 'Go');
  return isThere;
}

/** The path of a program that Go builds of a module with its version; null without Go. @throws Error where it cannot be built */
export function goProgram(module: string, version: string): string | null {
  if (!hasGo(module)) return null;
  const folder = folderFor(`${module}@${version}`);
  const program = join(folder, module.split('/').at(-1) ?? '');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const env = { ...process.env, GOBIN: folder };
    execFileSync('go', ['install', `${module}@${version}`], { env, stdio: 'pipe', timeout: LONGEST_MS });
  }
  return program;
}

/** The folder of the programs of locked packages of Python, for one file of tests alone; null without Python. @throws Error where they cannot be had */
export function pythonPrograms(requirements: string): string | null {
  if (!runs('python3', '-m', 'venv', '--help')) return without(requirements, 'Python');
  const folder = folderFor(readFileSync(requirements, 'utf8'));
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'installed');
  if (!existsSync(stamp)) {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' });
    const args = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    execFileSync(join(programs, 'pip'), args, { stdio: 'pipe', timeout: LONGEST_MS });
    mkdirSync(stamp, { recursive: true });
  }
  return programs;
}

/** A program in Java, by its name in Maven's repository; null without Java and Maven. @throws Error where it cannot be had */
export function javaProgram(group: string, artifact: string, version: string): string | null {
  if (!hasJava()) return without(artifact, 'Java with Maven');
  const name = `${group}:${artifact}:${version}`;
  const folder = folderFor(name);
  const jar = join(folder, `${artifact}-${version}.jar`);
  if (!existsSync(jar)) maven('dependency:copy', `-Dartifact=${name}`, `-DoutputDirectory=${folder}`);
  return jar;
}

/** The folder of what a `pom.xml` names to compile with, for one file of tests alone; null without JDK and Maven. @throws Error where they cannot be had */
export function javaLibraries(pom: string): string | null {
  if (!hasJava() || !runs('javac', '-version')) return without(pom, 'JDK with Maven');
  const folder = folderFor(readFileSync(pom, 'utf8'));
  const stamp = join(folder, 'installed');
  if (!existsSync(stamp)) {
    maven('--file', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`);
    mkdirSync(stamp, { recursive: true });
  }
  return folder;
}

const hasJava = (): boolean => runs('mvn', '--version') && runs('java', '-version');

function maven(...args: readonly string[]): void {
  execFileSync('mvn', ['--quiet', '--batch-mode', ...args], { stdio: 'pipe', timeout: LONGEST_MS });
}
