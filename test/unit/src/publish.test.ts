import { readFileSync } from 'node:fs';
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
