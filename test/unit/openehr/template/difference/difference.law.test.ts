import { describe, expect, it } from '@jest/globals';
import { CdrError } from '../../../../../openehr/base/errors.js';
import { compileTemplate, type CompiledTemplate } from '../../../../../openehr/template/compile.js';
import { compareTemplates } from '../../../../../openehr/template/difference/difference.js';
import { fixtureText, templateNames } from '../../../../support/fixture.js';
import { seeds } from '../../../../support/laws.js';
import {
  brokenInstance,
  isValid,
  randomInstance,
  violationsAfter,
} from '../../../../support/openehr/changed-instances.js';
import { optText, optTree } from '../../../../support/openehr/opt-tree.js';
import { REVISIONS, secondRevision } from '../../../../support/openehr/revisions.js';
import { editRandomly } from '../../../../support/openehr/template-edits.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';
import { Random } from '../../../../support/random.js';

/** Those whose instances are made in some milliseconds. */
const names = templateNames().filter(
  (name) => name !== 'Corona_Anamnese' && name !== 'cardinality_of_section',
);

/** A template after random changes; null when it is none any more. */
function edited(name: string, random: Random): { template: CompiledTemplate; done: string[] } | null {
  const tree = optTree(fixtureText(`opt/${name}.opt`));
  const done = editRandomly(tree, random);
  if (done.length === 0) return null;
  try {
    return { template: compileTemplate(optText(tree)), done };
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

describe('random changes of public templates', () => {
  it('what the difference proves holds for instances, and what it calls breaking breaks one', () => {
    const failures: object[] = [];
    for (const seed of seeds({ small: 150, full: 3_000 })) {
      const random = new Random(seed);
      const name = random.pick(names);
      const change = edited(name, random);
      if (change === null) continue;
      const [one, other] = [publicTemplate(name), change.template];
      const [before, after] = random.chance(0.5) ? [one, other] : [other, one];
      const { verdict, changes } = compareTemplates(before, after);
      const said = { seed, name, done: change.done.join(), isBack: before === other };
      const instances = [false, true].flatMap((isSmall) =>
        random.list(6, 6, () => randomInstance(before, random, new Set(), isSmall)),
      );
      const valid = instances.filter((each) => isValid(each, before));
      for (const instance of verdict === 'breaking' ? [] : valid) {
        const violations = violationsAfter(instance, before, after);
        if (violations.length > 0) failures.push({ ...said, verdict, violations, changes });
      }
      // Of a template that no instance fits nothing can be broken.
      if (valid.length === 0) continue;
      for (const each of changes)
        if (each.verdict === 'breaking' && brokenInstance(before, after, each) === null)
          failures.push({ ...said, unbroken: each });
    }
    expect(failures).toEqual([]);
  });

  it.each(REVISIONS.filter(({ changes }) => changes.some(({ verdict }) => verdict === 'breaking')))(
    'a line has an instance that it breaks: $says',
    (revision) => {
      const [before, after] = [publicTemplate(revision.template), secondRevision(revision)];
      for (const change of compareTemplates(before, after).changes)
        expect(brokenInstance(before, after, change)).not.toBeNull();
    },
  );
});
