import { describe, expect, it } from '@jest/globals';
import { readPolicy } from '../../../policy/read-policy.js';

/** Where `^` stands below a line of a text is the place that a finding must name. */
const MARKED = [
  [
    'the second of two equal operators',
    `permit (principal, action, resource is Version)
when { resource.kind == "a == b" || resource.kind == resource.origin };
                                                  ^`,
  ],
  [
    'an operator behind a comment and a text that look like code',
    `// when { resource.kind == resource.origin }
permit (principal, action, resource is Version)
when { resource.kind == "unless { } ==" } // ==
unless { resource.origin != resource.kind };
                         ^`,
  ],
  [
    'a method whose set has an attribute of the object',
    `forbid (principal, action, resource is Version)
when { ["a"].contains(resource.kind) && [resource.kind].contains("b") };
                                        ^`,
  ],
  [
    'an equality of sets behind an is with an in',
    `permit (principal, action, resource)
when { resource is Version in Ehr::"x" && resource.archetypes == ["a"] };
                                                              ^`,
  ],
  [
    'arithmetic behind a letter of two bytes',
    `permit (principal, action, resource)
when { principal.sub == "ö" && 1 + 1 == 2 };
                                 ^`,
  ],
] as const;

describe('the place of what has no translation', () => {
  it.each(MARKED)('is that of %s', async (_, marked) => {
    const lines = marked.split('\n');
    const column = (lines.pop() ?? '').length;
    const { policy, findings } = await readPolicy('p', lines.join('\n'));
    expect(policy).toBeNull();
    expect(findings).toEqual([expect.objectContaining({ kind: 'translation', line: lines.length, column })]);
  });
});
