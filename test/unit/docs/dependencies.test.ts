import { beforeAll, describe, expect, it } from '@jest/globals';
import { textOf } from './repository-text.js';

interface Entry {
  readonly version?: string;
  readonly name?: string;
  readonly hasInstallScript?: true;
}

const decision = textOf('docs/decisions/0020-packages-libraries-checks.md');

/** The first cells of the table that stands behind these words of the decision. */
function listedBehind(words: string): string[] {
  const [, behind = ''] = decision.split(words);
  const [, table = ''] = /\n\|---.*\n((?:\|.*\n)+)/.exec(behind) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((row) => row.split('|')[1]!.trim());
}

/** What whoever installs the packed server gets: docs/decisions/0020-packages-libraries-checks.md tells why. */
describe('the lock of the packed server', () => {
  /** Versions by the name of the package. */
  const versions = new Map<string, Set<string>>();
  let entries: readonly (readonly [path: string, entry: Entry])[] = [];

  beforeAll(async () => {
    const script = new URL('../../../scripts/shrinkwrap.mjs', import.meta.url).href;
    const { shrinkwrap } = (await import(script)) as {
      shrinkwrap: (manifest: unknown) => { packages: Record<string, Entry> };
    };
    const { packages } = shrinkwrap(JSON.parse(textOf('package.json')));
    entries = Object.entries(packages).filter(([path]) => path !== '');
    for (const [path, { name = path.split('node_modules/').at(-1)!, version }] of entries)
      versions.set(name, (versions.get(name) ?? new Set()).add(version ?? ''));
    expect(versions.size).toBeGreaterThan(100);
  });

  it('has nothing that reports itself, runs when it is installed, or is for development alone', () => {
    expect(entries.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
    const unwanted = ['@scarf/scarf', 'esbuild', 'jwks-rsa', 'mongodb-memory-server-core', 'tsx', 'typescript'];
    expect(unwanted.filter((name) => versions.has(name))).toEqual([]);
  });

  it('has two versions of a package only where the decision says why', () => {
    const explained = listedBehind('has in two versions').flatMap((cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    const twice = [...versions].filter(([, all]) => all.size > 1).map(([name]) => name);
    expect(explained.sort()).toEqual(twice.sort());
  });

  it('has libraries that rest at the versions that the decision judges: a newer one is no reason any more', () => {
    const judged = listedBehind('had no release for two years').map((cell) => cell.replaceAll('`', '').split(' '));
    expect(judged.length).toBeGreaterThan(2);
    for (const [name = '', version] of judged) expect([name, ...(versions.get(name) ?? [])]).toEqual([name, version]);
  });
});
