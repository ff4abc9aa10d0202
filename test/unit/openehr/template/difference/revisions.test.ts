import { describe, expect, it } from '@jest/globals';
import { compareTemplates } from '../../../../../openehr/template/difference/difference.js';
import { REVISIONS, secondRevision } from '../../../../support/openehr/revisions.js';
import { templateNames } from '../../../../support/fixture.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';

describe('the difference of a second revision', () => {
  it.each(REVISIONS)('$says', (revision) => {
    const { verdict, changes } = compareTemplates(
      publicTemplate(revision.template),
      secondRevision(revision),
    );
    expect(
      changes.map(({ path, kind, what, verdict: each }) => ({ path, kind, what, verdict: each })),
    ).toEqual(revision.changes);
    expect(verdict).toBe(revision.verdict);
  });

  // No public template asks for an attribute that the reference model does not ask for.
  it.each([
    ['a value must be there', 'widened', 'existence', 'minor'],
    ['a code is called something else', 'changed', 'term', 'text'],
    ['a code list grows', 'narrowed', 'codes', 'breaking'],
    ['a node is annotated', 'removed', 'annotations', 'text'],
  ])('taken back: %s', (says, kind, what, verdict) => {
    const revision = REVISIONS.find((each) => each.says === says)!;
    const back = compareTemplates(secondRevision(revision), publicTemplate(revision.template));
    expect(back).toMatchObject({
      verdict,
      changes: [{ path: revision.changes[0]?.path, kind, what, verdict }],
    });
  });

  it.each(templateNames())('there is none from a template to itself: %s', (name) => {
    const template = publicTemplate(name);
    expect(compareTemplates(template, template)).toEqual({ verdict: 'same', changes: [] });
  });
});
