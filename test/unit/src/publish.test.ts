import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[]; readonly branches?: unknown } };
  readonly permissions: Record<string, string>;
  readonly jobs: {
    readonly publish: {
      readonly env: Record<string, string>;
      readonly steps: readonly { readonly run?: string; readonly env?: Record<string, string> }[];
    };
  };
}
const workflow = parse(text('.github/workflows/publish.yml')) as Workflow;
const { publish } = workflow.jobs;
const commands = publish.steps.flatMap(({ run = '' }) => run.split('\n').map((line) => line.trim()));
const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };

describe('the workflow that publishes', () => {
  it('runs for tags of versions alone, with provenance and without a token that is kept', () => {
    expect(workflow.on).toEqual({ push: { tags: ['v[0-9]*'] } });
    expect(workflow.permissions).toEqual({ contents: 'write', 'id-token': 'write' });
    expect(commands.filter((line) => line.startsWith('npm publish'))).toEqual([
      'npm publish "$file" --provenance --access public',
    ]);
    expect(text('.github/workflows/publish.yml')).not.toContain('secrets.');
  });

  it('calls scripts that there are, each check before it publishes', () => {
    const called = commands.flatMap((line) => /^npm (?:run )?([\w:]+)$/.exec(line)?.[1] ?? []);
    expect(called).toEqual(['ci', 'check', 'test', 'check:pack', 'release']);
    expect(called.filter((name) => name !== 'ci' && scripts[name] === undefined)).toEqual([]);
    const publishing = commands.findIndex((line) => line.startsWith('npm publish'));
    expect(publishing).toBeGreaterThan(commands.indexOf('npm run release'));
  });

  it('says where the sources are, and hands on what the release made', () => {
    expect(publish.env.EVERCHART_REPOSITORY).toContain('github.repository');
    expect(text('scripts/pack-package.mjs')).toContain('process.env.EVERCHART_REPOSITORY');
    const release = text('scripts/release.mjs');
    for (const file of ['NOTES.md', 'sbom.cdx.json']) {
      expect(release).toContain(file);
      expect(commands.join('\n')).toContain(`release/${file}`);
    }
  });

  it('publishes only what the tag names', () => {
    expect(commands).toContain(`test "$GITHUB_REF_NAME" = "v$(node -p 'require("./package.json").version')"`);
  });
});

interface Manifest {
  readonly [member: string]: unknown;
  readonly files: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: unknown;
  readonly publishConfig: { readonly exports: Readonly<Record<string, { types: string; default: string }>> };
}
const manifestOf = (folder: string): Manifest => JSON.parse(text(`${folder}/package.json`)) as Manifest;
const folders = readdirSync(new URL('packages/', root)).map((name) => `packages/${name}`);
const server = manifestOf('.');

describe('what is published', () => {
  it('is every package of the workspace, each with a limit of its size', async () => {
    const { PACKAGES } = (await import(new URL('scripts/beside-code.mjs', root).href)) as {
      PACKAGES: readonly string[];
    };
    expect(PACKAGES.map((name) => `packages/${name}`).sort()).toEqual([...folders].sort());
    const limits = /const LIMITS = \{([^}]*)\}/.exec(text('scripts/release.mjs'))?.[1] ?? '';
    for (const name of ['everchart', ...PACKAGES])
      expect(limits).toMatch(new RegExp(`^ +'?${name}'?: `, 'm'));
  });

  it.each(['.', ...folders])('says what it is, whose, and what it needs: %s', (folder) => {
    const manifest = manifestOf(folder);
    expect(manifest).toMatchObject({
      name: folder === '.' ? 'everchart' : folder.replace('packages/', '@everchart/'),
      version: server.version,
      description: expect.stringMatching(/^\w.{20,}/),
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: expect.stringMatching(/^>=20/) },
      private: true,
    });
    // What is compiled is there once it was built.
    const written = manifest.files.filter((file) => !/^!?dist\b/.test(file));
    expect(
      [...written, 'README.md'].filter((file) => !existsSync(new URL(`${folder}/${file}`, root))),
    ).toEqual([]);
    for (const file of Object.values(manifest.bin ?? {})) {
      expect(text(`${folder}/${file}`)).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(manifest.files.some((part) => file.startsWith(part))).toBe(true);
    }
  });

  it.each(folders)('has types before code, from files that it brings: %s', (folder) => {
    const { exports, files, publishConfig } = manifestOf(folder);
    const sources = typeof exports === 'string' ? { '.': exports } : (exports as Record<string, string>);
    expect(Object.keys(publishConfig.exports)).toEqual(Object.keys(sources));
    for (const [name, entry] of Object.entries(publishConfig.exports)) {
      expect(existsSync(new URL(`${folder}/${sources[name]!}`, root))).toBe(true);
      expect(Object.keys(entry)).toEqual(['types', 'default']);
      for (const path of Object.values(entry))
        expect(files.some((part) => path.startsWith(`./${part}/`))).toBe(true);
      expect(entry.types.replace(/\.d\.ts$/, '')).toBe(entry.default.replace(/\.js$/, ''));
    }
  });
});
