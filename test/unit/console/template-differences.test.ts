import { describe, expect, it } from '@jest/globals';
import type { WebTemplate } from '../../../packages/client/src/definitions.js';
import { isSameOpt, templateDifferences } from '../../../console/src/record/template-differences.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../../support/fixture.js';
import { asTypeScript } from '../../../console/src/pages/query/parameters.js';

const OPT = fixtureText('opt/test_all_types.en.v1.opt');
const webTemplate = (opt = OPT): WebTemplate => JSON.parse(String(compileTemplate(opt).webTemplateText));
const whole = (opt = OPT, web = webTemplate(opt)) => ({ web, opt });

describe('the difference of two templates', () => {
  it('is nothing for a template and itself', () => {
    expect(templateDifferences(whole(), whole(), 'en')).toEqual([]);
    expect(isSameOpt(OPT, OPT)).toBe(true);
  });

  it('names another concept', () => {
    const after = OPT.replace(/<concept>[^<]*</, '<concept>another<');
    const [, concept] = /<concept>([^<]*)</.exec(OPT)!;
    expect(templateDifferences(whole(), whole(after), 'en')).toEqual([
      { path: 'concept', before: concept, after: 'another' },
    ]);
  });

  it('names other languages, and the name of a node in any of them', () => {
    const web = { ...webTemplate(), languages: ['en', 'de'] };
    const { tree } = web;
    const names = { ...tree.localizedNames, de: 'anders' };
    const after = { ...web, tree: { ...tree, localizedNames: names } };
    const found = templateDifferences(whole(), whole(OPT, after), 'en');
    expect(found.map(({ path }) => path)).toEqual(['languages', tree.aqlPath ?? '/']);
    expect(found[1]?.after).toMatch(/^COMPOSITION.* · de: anders · en: /);
    expect(found[1]?.before).not.toContain('anders');
  });

  it('sees what is in no node, but no id and no layout', () => {
    const renamed = OPT.replace(
      /<template_id>[\s\S]*?<\/template_id>/,
      '<template_id><value>b</value></template_id>',
    );
    expect(isSameOpt(OPT, renamed.replace(/>\s*</g, '>\n<'))).toBe(true);
    const annotated = OPT.replace('</template>', '<annotations path="/"><items/></annotations></template>');
    expect(annotated).not.toBe(OPT);
    expect(isSameOpt(OPT, annotated)).toBe(false);
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
    const found = templateDifferences(whole(), whole(OPT, after), 'en').map(({ path, before, after: is }) => [
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
