import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { choosePairs, mergedStatus, statusDifferences } from '../../../merge/plan/choices.js';
import type { MergeResolutions, PairChoice } from '../../../merge/request.js';
import { sizeOf } from '../../../merge/size.js';
import { container, ehr, latest, persistent, SOURCE, TARGET } from './fixtures.js';

const at = (ms: number) => ({ latest_time_committed: new Date(ms) });

function resolutions(
  compositions: Readonly<Record<string, PairChoice>> = {},
  ehrStatus: MergeResolutions['ehrStatus'] = new Map(),
): MergeResolutions {
  return { compositions: new Map(Object.entries(compositions)), ehrStatus };
}

/** One pair of which each side has a time and a lifecycle state. */
function choose(
  source: readonly [ms: number, state: string],
  target: readonly [ms: number, state: string],
  choices: Readonly<Record<string, PairChoice>> = {},
) {
  const mine = persistent('mine', at(source[0]));
  const theirs = persistent('theirs', { ehr_id: TARGET, ...at(target[0]) });
  const versions = [latest(mine, {}, source[1]), latest(theirs, {}, target[1])];
  const [pair] = choosePairs(
    [{ templateId: 'problems', source: mine, target: theirs }],
    {
      latest: new Map(versions.map((version) => [version.object_id, version])),
      origins: new Map(),
    },
    resolutions(choices),
  );
  return [pair?.choice, pair?.reason];
}

describe('the choice for a pair', () => {
  it.each([
    ['later wins: the source', [2, '532'], [1, '532'], 'source', 'later'],
    ['later wins: the target', [1, '532'], [2, '532'], 'target', 'later'],
    ['of one moment: the target', [1, '532'], [1, '532'], 'target', 'later'],
    ['both incomplete: later wins', [2, '553'], [1, '553'], 'source', 'later'],
    ['a later draft never wins over a complete list', [2, '553'], [1, '532'], 'target', 'complete'],
    ['nor does a later draft of the target', [1, '532'], [2, '553'], 'source', 'complete'],
  ] as const)('%s', (_, source, target, ...chosen) => {
    expect(choose(source, target)).toEqual(chosen);
  });

  it.each(['problems', 'mine', 'theirs'])("is the request's where it names the pair: %s", (name) => {
    expect(choose([2, '532'], [1, '532'], { [name]: 'target' })).toEqual(['target', 'chosen']);
    expect(choose([2, '553'], [1, '532'], { [name]: 'both' })).toEqual(['both', 'chosen']);
  });

  it.each([
    ['of an incomplete over a complete one', { problems: 'source' }, /mine.*incomplete.*complete theirs/],
    ['of what is no pair', { allergies: 'source' }, /no pair of this merge: allergies/],
    ['made twice', { mine: 'both', theirs: 'target' }, /differently for the pair of problems/],
  ] as const)('is refused: %s', (_, choices, message) => {
    expect(() => choose([2, '553'], [1, '532'], choices)).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringMatching(message) }),
    );
  });
});

describe('two EHR_STATUS', () => {
  const subject = (id: string): JsonObject => ({
    external_ref: { namespace: 'clinic', id: { value: id } },
  });
  const mine = {
    _type: 'EHR_STATUS',
    uid: { value: 'a' },
    subject: subject('1'),
    is_queryable: true,
    name: 'n',
  };
  const theirs = { _type: 'EHR_STATUS', uid: { value: 'b' }, subject: subject('2'), is_queryable: true };

  it('differ in attributes; those of the target stay', () => {
    const differences = statusDifferences(mine, theirs, resolutions());
    expect(differences).toEqual([
      { field: 'name', source: 'n', target: null, survivor: 'target' },
      { field: 'subject', source: subject('1'), target: subject('2'), survivor: 'target' },
    ]);
    expect(mergedStatus(theirs, differences)).toBeNull();
  });

  it('become one with the attributes that the request chose', () => {
    const chosen = resolutions({}, new Map([['subject', 'source']]));
    expect(mergedStatus(theirs, statusDifferences(mine, theirs, chosen))).toEqual({
      ...theirs,
      subject: subject('1'),
    });
  });

  it('an attribute that the chosen side lacks goes', () => {
    const chosen = resolutions({}, new Map([['other_details', 'source']]));
    const detailed = { ...theirs, other_details: { a: 1 } };
    expect(mergedStatus(detailed, statusDifferences(mine, detailed, chosen))).toEqual(theirs);
  });

  it('never lose the identity of the patient', () => {
    const chosen = resolutions({}, new Map([['subject', 'source']]));
    const nobody = { ...mine, subject: { _type: 'PARTY_SELF' } };
    expect(() => mergedStatus(theirs, statusDifferences(nobody, theirs, chosen))).toThrow('no external_ref');
  });
});

describe('the size of a merge', () => {
  const sized = (count: number, averageBytes: number, way: 'transaction' | 'steps' = 'transaction') =>
    sizeOf(
      {
        source: {
          ehr: ehr(SOURCE),
          containers: [container('one', 'COMPOSITION', { latest_version: count })],
          contributionUids: [],
          tags: [],
          versions: { count, averageBytes },
        },
      },
      way,
    );

  it('counts what changes, and tells whether one transaction surely holds it', () => {
    expect(sized(3, 5_000)).toMatchObject({ documents: 7, bytes: 48_500, expected_seconds: 0.1, fits: true });
    expect(sized(20_000, 5_000).fits).toBe(false);
    expect(sized(20_000, 5_000, 'steps')).toMatchObject({ expected_seconds: 9.1, fits: true });
  });
});
