// `npm run sbom [file]`: a software bill of materials (CycloneDX, JSON) of what a user gets: the packages that are installed
// with the server, and those that are compiled into the console. From the lock file alone; `npm run build` puts it into dist/.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isCompiledIn } from './beside-code.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Of the console's packages those that make it and are not in it. */
const MAKES_CONSOLE = /^(?:vite|axe-core|@vitejs\/.*|@types\/.*)$/;

const manifest = (folder) => JSON.parse(readFileSync(`${root}/${folder}package.json`, 'utf8'));
const ofServer = manifest('');
const ofConsole = manifest('console/');
const given = {
  [ofServer.name]: [
    ...Object.keys({ ...ofServer.dependencies, ...ofServer.optionalDependencies }),
    ...Object.keys(ofServer.devDependencies).filter(isCompiledIn),
  ],
  [ofConsole.name]: Object.keys(ofConsole.devDependencies).filter((name) => !MAKES_CONSOLE.test(name)),
};

// `--omit dev` leaves out each package that any of the workspaces has for development, also what the server needs.
const options = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const bill = JSON.parse(
  execFileSync('npm', options, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26 }),
);
const nameOf = (ref) => ref.replace(/@[^@]+$/, '');
const needs = new Map(bill.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
const own = (name) => [...needs.keys()].find((ref) => nameOf(ref) === name);

const wanted = new Set();
for (const [name, packages] of Object.entries(given))
  for (const ref of needs.get(own(name))) if (packages.includes(nameOf(ref))) wanted.add(ref);
// A workspace's packages for development are not those of whoever uses it.
for (const ref of wanted)
  if (!nameOf(ref).startsWith('@everchart/')) for (const next of needs.get(ref)) wanted.add(next);

// Three files of it are copied into dist/, nothing that it needs.
wanted.add(own('swagger-ui-dist'));

const server = own(ofServer.name);
const { name, version } = ofServer;
const kept = ({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((next) => wanted.has(next)) });
const written = {
  ...bill,
  metadata: { ...bill.metadata, component: { ...bill.metadata.component, name, version } },
  // npm names a workspace by its folder.
  components: bill.components
    .filter((component) => wanted.has(component['bom-ref']))
    .map((component) => ({ ...component, name: nameOf(component['bom-ref']) })),
  dependencies: bill.dependencies.filter(({ ref }) => ref === server || wanted.has(ref)).map(kept),
};
const file = process.argv[2] ?? `${root}/sbom.cdx.json`;
writeFileSync(file, `${JSON.stringify(written, null, 2)}\n`);
process.stdout.write(`${file}: ${written.components.length} packages\n`);
