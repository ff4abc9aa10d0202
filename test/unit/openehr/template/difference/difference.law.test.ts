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

/** Those of which an instance takes longer: fewer of them. */
const LARGE = ['Corona_Anamnese', 'cardinality_of_section'] as const;

/** Those whose instances are made in some milliseconds. */
const names = templateNames().filter((name) => !LARGE.some((large) => large === name));

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

/** How many instances of a template a change is tried on, of each size. */
interface Trial {
  readonly name: string;
  readonly instances: number;
}

/** What a difference says of a random change that is not so. */
function failuresOf(seed: number, random: Random, { name, instances }: Trial): object[] {
  const failures: object[] = [];
  const change = edited(name, random);
  if (change === null) return [];
  const [one, other] = [publicTemplate(name), change.template];
  const [before, after] = random.chance(0.5) ? [one, other] : [other, one];
  const { verdict, changes } = compareTemplates(before, after);
  const said = { seed, name, done: change.done.join(), isBack: before === other };
  const made = [false, true].flatMap((isSmall) =>
    random.list(instances, instances, () => randomInstance(before, random, new Set(), isSmall)),
  );
  const valid = made.filter((each) => isValid(each, before));
  for (const instance of verdict === 'breaking' ? [] : valid) {
    const violations = violationsAfter(instance, before, after);
    if (violations.length > 0) failures.push({ ...said, verdict, violations, changes });
  }
  // Of a template that no instance fits nothing can be broken.
  if (valid.length === 0) return failures;
  for (const each of changes)
    if (each.verdict === 'breaking' && brokenInstance(before, after, each) === null)
      failures.push({ ...said, unbroken: each });
  return failures;
}

describe('random changes of public templates', () => {
  it('what the difference proves holds for instances, and what it calls breaking breaks one', () => {
    const failures = seeds({ small: 60, full: 3_000 }).flatMap((seed) => {
      const random = new Random(seed);
      return failuresOf(seed, random, { name: random.pick(names), instances: 6 });
    });
    expect(failures).toEqual([]);
  });

  it.each(LARGE)('the same of %s', (name) => {
    const failures = seeds({ small: 2, full: 40 }).flatMap((seed) =>
      failuresOf(seed, new Random(seed), { name, instances: 1 }),
    );
    expect(failures).toEqual([]);
  });

  it.each(REVISIONS.filter(({ changes }) => changes.some(({ verdict }) => verdict === 'breaking')))(
    'a line has an instance that it breaks: $says',
    (revision) => {
      const [before, after] = [publicTemplate(revision.template), secondRevision(revision)];
      for (const change of compareTemplates(before, after).changes)
        expect(brokenInstance(before, after, change)).toEqual(expect.anything());
    },
  );
});
