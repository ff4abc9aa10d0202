// `npm run check:pack`: what `npm pack` makes, which builds before, runs the demo where nothing else of everchart is; the
// packages for those who build on the server compile and run in a project that has nothing else.
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generateKey } from 'openpgp';
import { PACKAGES } from './beside-code.mjs';
import { release } from './release.mjs';
import { checkPace, checkServed } from './stranger/installed.js';
import { runPacked } from './stranger/packed.js';
import { OPT } from './stranger/pages.js';

const folder = mkdtempSync(join(tmpdir(), 'everchart-packed-'));
const packed = join(folder, 'release');
const tarball = (start) =>
  join(
    packed,
    readdirSync(packed).find((name) => new RegExp(`^${start}-\\d.*\\.tgz$`).test(name)),
  );
// As the lock does here: no script of a third party, packages from the cache where it has them.
const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
const run = (cwd, command, ...args) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });

/** Installs packed files, and refuses packages that their makers have given up: npm says so. */
function install(cwd, ...args) {
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, ...args], { cwd, encoding: 'utf8' });
  const givenUp = stderr.split('\n').filter((line) => line.startsWith('npm warn deprecated'));
  if (status !== 0 || givenUp.length > 0) throw new Error(givenUp.join('\n') || stderr);
}

const EXAMPLE = `import { Catalogue, completions, diagnose, formatAql, type Diagnostic } from '@everchart/aql';
import { aql, Cdr, type DV_QUANTITY as ClientQuantity } from '@everchart/client';
import { dvQuantity, isRm, type DV_QUANTITY } from '@everchart/rm';

const quantity: DV_QUANTITY = dvQuantity(120, 'mm[Hg]');
const same: ClientQuantity = quantity;
const found: readonly Diagnostic[] = diagnose('SELECT e FROM EHRR e', new Catalogue());
const { q, parameters } = aql\`SELECT e FROM EHR e LIMIT \${5}\`;
console.log(isRm(same, 'DATA_VALUE'), new Cdr({ url: 'http://127.0.0.1:1' }).url, q, parameters.p1);
console.log(found[0]?.nearest, completions('SELECT e FROM ', 14).length > 5, formatAql('select e from ehr e'));
`;
const EXPECTED = `true http://127.0.0.1:1 SELECT e FROM EHR e LIMIT $p1 5
EHR true SELECT e
FROM EHR e
`;

/** Installs every package in an empty project, compiles and runs an example of three and runs the commands of two. */
function checkPackages() {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  install(project, ...PACKAGES.map((name) => tarball(`everchart-${name}`)));
  for (const name of PACKAGES) {
    const files = readdirSync(join(project, 'node_modules/@everchart', name));
    const missing = ['LICENSE', 'NOTICE', 'README.md', 'dist'].filter((file) => !files.includes(file));
    if (missing.length > 0) throw new Error(`@everchart/${name} has no ${missing.join(', ')}`);
  }
  writeFileSync(join(project, 'example.ts'), EXAMPLE);
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const options = ['--strict', '--module', 'NodeNext', '--target', 'ES2023', '--lib', 'ES2023,DOM'];
  run(project, process.execPath, tsc, ...options, 'example.ts');
  const said = run(project, process.execPath, 'example.js').toString();
  if (said !== EXPECTED) throw new Error(`the example said ${said}`);
  checkConfig(project);
  for (const command of ['everchart-codegen', 'everchart-aql-lsp'])
    console.log(command, run(project, 'npx', command, '--version').toString().trim());
}

const CONFIG = `import { defineConfig } from '@everchart/codegen';
export default defineConfig({ queries: { files: ['ehrs.aql'], templates: [], output: 'gen' } });
`;

/** `codegen` reads its configuration where the package is installed. */
function checkConfig(project) {
  writeFileSync(join(project, 'everchart.config.mjs'), CONFIG);
  writeFileSync(join(project, 'ehrs.aql'), 'SELECT COUNT(*) AS n FROM EHR e');
  console.log(run(project, 'npx', 'everchart-codegen').toString().trim());
}

/** Every package that the packed file brings is in its bill of materials. */
function checkBill() {
  const modules = join(folder, 'node_modules');
  const bill = JSON.parse(readFileSync(join(modules, 'everchart/dist/sbom.cdx.json'), 'utf8'));
  const listed = new Set(bill.components.map(({ name }) => name));
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1));
  const missing = names.filter((name) => name !== 'everchart' && !listed.has(name));
  if (missing.length > 0) throw new Error(`not in the bill of materials: ${missing.join(', ')}`);
  console.log(`bill of materials: ${listed.size} packages, with all ${names.length - 1} that are installed`);
}

/** The part of OpenTelemetry that was compiled into the server is all that traces need. */
async function checkTracing() {
  const file = join(folder, 'node_modules/everchart/dist/src/tracing/opentelemetry.mjs');
  const { createTracer } = await import(pathToFileURL(file).href);
  const tracer = createTracer({ version: '0', instance: 'check', onFailure: () => undefined });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: '' };
  const found = tracer.client('find', tracer.server('GET', headers), {}).traceId;
  if (found !== traceId) throw new Error(`the trace ${traceId} became ${found}`);
}

/** The part of OpenPGP.js that was compiled into the server signs, and knows the signature again. */
async function checkOpenPgp() {
  const file = join(folder, 'node_modules/everchart/dist/change/commit/openpgp.mjs');
  const { createMessage, readKeys, readSignature, sign, verify } = await import(pathToFileURL(file).href);
  const { privateKey } = await generateKey({ userIDs: [{ name: 'check' }], format: 'armored' });
  const [key] = await readKeys({ armoredKeys: privateKey });
  const message = await createMessage({ text: 'a text' });
  const armoredSignature = await sign({ message, signingKeys: key, detached: true });
  const signature = await readSignature({ armoredSignature });
  const { signatures } = await verify({ message, signature, verificationKeys: [key.toPublic()] });
  await signatures[0].verified;
}

/** The part of age-encryption that was compiled into the server opens what it encrypted. */
async function checkAge() {
  const file = join(folder, 'node_modules/everchart/dist/cli/transfer/age.mjs');
  const { Decrypter, Encrypter } = await import(pathToFileURL(file).href);
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(1);
  encrypter.setPassphrase('a passphrase');
  const decrypter = new Decrypter();
  decrypter.addPassphrase('a passphrase');
  const opened = await decrypter.decrypt(await encrypter.encrypt('a text'), 'text');
  if (opened !== 'a text') throw new Error(`what was encrypted became ${opened}`);
}

/** The part of Cedar that was compiled into the server reads a policy. */
async function checkCedar() {
  const file = join(folder, 'node_modules/everchart/dist/policy/cedar-wasm.mjs');
  const { policyToJson } = await import(pathToFileURL(file).href);
  const { type } = policyToJson('permit (principal, action, resource);');
  if (type !== 'success') throw new Error(`Cedar said ${type}`);
}

/** A program that says what a `mongod` says, for whoever only starts one. */
const MONGOD = `#!/bin/sh
[ "$1" = --version ] && { echo 'db version v8.0.0'; exit 0; }
echo '{"msg":"Waiting for connections"}'
exec sleep 60
`;

/** The part of mongodb-memory-server that was compiled into the server runs a binary, and what ends it when the server is killed. */
async function checkMemoryServer() {
  const file = join(folder, 'node_modules/everchart/dist/database/mongodb-memory-server.js');
  const { MongoInstance } = await import(pathToFileURL(file).href);
  const [systemBinary, dbPath] = [join(folder, 'mongod'), join(folder, 'mongod-data')];
  writeFileSync(systemBinary, MONGOD, { mode: 0o755 });
  mkdirSync(dbPath);
  const options = { ip: '127.0.0.1', port: 27017, dbPath, storageEngine: 'wiredTiger', args: [] };
  const instance = new MongoInstance({
    instance: options,
    binary: { systemBinary, version: '8.0.0' },
  });
  await instance.start();
  const { exitCode } = instance.killerProcess;
  await instance.stop();
  if (exitCode !== null) throw new Error(`what ends the mongod ended with ${exitCode}`);
}

/** Refuses a folder that has more than one driver of MongoDB. */
function checkDriver(folder) {
  const drivers = readdirSync(folder, { recursive: true }).filter((path) =>
    /node_modules\/mongodb\/package\.json$/.test(path),
  );
  if (drivers.length !== 1) throw new Error(`drivers of MongoDB: ${drivers.join(', ')}`);
}

/** The most bytes on disk: of the installed server with the embedded engine and without what is optional, and of what makes types. */
const INSTALLED = { whole: 110e6, lean: 60e6, codegen: 10e6 };

/** Refuses a folder whose installed packages have more bytes than `most`. */
function checkSize(folder, most) {
  const modules = join(folder, 'node_modules');
  const files = readdirSync(modules, { recursive: true, withFileTypes: true });
  const bytes = files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
  const said = `${(bytes / 1e6).toFixed(1)} MB installed of at most ${most / 1e6}`;
  if (bytes > most) throw new Error(said);
  console.log(said);
}

/** What the lock of the packed server says can be installed, with one driver of MongoDB too. */
function checkLock() {
  const locked = join(folder, 'locked');
  mkdirSync(locked);
  const files = ['package/package.json', 'package/npm-shrinkwrap.json'];
  run(locked, 'tar', 'xzf', tarball('everchart'), '--strip-components=1', ...files);
  run(locked, 'npm', 'ci', ...quiet);
  checkDriver(locked);
}

/** Installs the server without its optional packages, as whoever has a MongoDB may. */
function checkLean() {
  const lean = join(folder, 'lean');
  mkdirSync(lean);
  writeFileSync(join(lean, 'package.json'), '{ "private": true }');
  install(lean, '--omit=optional', tarball('everchart'));
  checkSize(lean, INSTALLED.lean);
  console.log('everchart', run(lean, 'npx', 'everchart', '--version').toString().trim());
}

/** Installs what whoever writes a front end needs to make types: no server is with it. */
function checkCodegen() {
  const project = join(folder, 'front-end');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  install(project, tarball('everchart-codegen'));
  checkSize(project, INSTALLED.codegen);
  const opt = fileURLToPath(new URL(`../${OPT}`, import.meta.url));
  console.log(run(project, 'npx', 'everchart-codegen', 'templates', opt, '-o', 'gen').toString().trim());
}

try {
  release(packed);
  install(folder, tarball('everchart'));
  checkSize(folder, INSTALLED.whole);
  checkBill();
  checkDriver(folder);
  await checkTracing();
  await checkMemoryServer();
  await checkOpenPgp();
  await checkAge();
  await checkCedar();
  await checkPace(folder);
  await checkServed(folder);
  console.log(run(folder, 'npx', 'everchart', 'demo', '--once').toString());
  checkPackages();
  checkCodegen();
  await runPacked(packed, folder);
  checkLean();
  checkLock();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
