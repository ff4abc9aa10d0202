import { describe, expect, it } from '@jest/globals';
import type { WebTemplate } from '../../../packages/client/src/definitions.js';
import { templateDifferences } from '../../../console/src/record/template-differences.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../../support/fixture.js';
import { asTypeScript } from '../../../console/src/pages/query/parameters.js';

const webTemplate = (): WebTemplate =>
  JSON.parse(String(compileTemplate(fixtureText('opt/test_all_types.en.v1.opt')).webTemplateText));

describe('the difference of two templates', () => {
  it('is nothing for a template and itself', () => {
    expect(templateDifferences(webTemplate(), webTemplate(), 'en')).toEqual([]);
  });

  it('names what came, what went, and what takes something else', () => {
    const after = JSON.parse(
      JSON.stringify(webTemplate()).replace('"id":"count","name":"count"', '"id":"count"'),
    );
    const observation = after.tree.children.find(
      ({ rmType }: { rmType: string }) => rmType === 'OBSERVATION',
    );
    const [text, coded] = observation.children;
    coded.max = 3;
    observation.children = [
      ...observation.children.filter((child: unknown) => child !== text),
      { ...text, aqlPath: '/new' },
    ];
    const found = templateDifferences(webTemplate(), after, 'en').map(({ path, before, after: is }) => [
      path,
      before,
      is,
    ]);
    expect(found).toContainEqual(['/new', null, expect.stringMatching(/^DV_TEXT/)]);
    expect(found).toContainEqual([text.aqlPath, expect.stringMatching(/^DV_TEXT/), null]);
    expect(found).toContainEqual([
      coded.aqlPath,
      expect.stringContaining('0..1'),
      expect.stringContaining('0..3'),
    ]);
    expect(found).toHaveLength(3);
  });
});

describe('a query as a program', () => {
  it('keeps its lines and gives its options, with nothing that would end the literal', () => {
    const program = asTypeScript('http://127.0.0.1', {
      q: 'SELECT `${e}`\nFROM EHR e',
      query_parameters: { a: 1 },
      as_of: '2026-01-01T00:00:00Z',
    });
    expect(program).toContain('`SELECT \\`\\${e}\\`\nFROM EHR e`');
    expect(program).toContain('"asOf": "2026-01-01T00:00:00Z"');
    expect(program).not.toContain('query_parameters');
  });
});
