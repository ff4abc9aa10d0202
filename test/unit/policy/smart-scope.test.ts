import { describe, expect, it } from '@jest/globals';
import { SmartGrants } from '../../../policy/smart-grants.js';
import { isNamed, readScope } from '../../../policy/smart-scope.js';

/** What a scope reads as: compartment, kind, and permissions; for the name see below. */
function told(word: string): string | null {
  const scope = readScope(word);
  if (scope === null || scope === 'unreadable') return scope;
  const { compartment, kind, permissions, name } = scope;
  const pattern = name.pieces.map((piece) => piece ?? (name.passesColons ? '**' : '*')).join('');
  return `${compartment} ${kind} ${pattern} ${[...permissions].join('')}`;
}

describe('a scope', () => {
  it.each([
    ['patient/composition-vital_signs.v1.r', 'patient composition vital_signs.v1 r'],
    ['user/composition-MyHospital::Vital Signs.v0.crud', 'user composition MyHospital::Vital Signs.v0 crud'],
    ['user/composition-Vital%20Signs.rs', 'user composition Vital Signs rs'],
    ['system/composition-*.cruds', 'system composition * cruds'],
    ['patient/composition-**.s', 'patient composition ** s'],
    ['patient/composition-MyHospital::*.v1.c', 'patient composition MyHospital::*.v1 c'],
    ['patient/composition-*signs*.u', 'patient composition *signs* u'],
    ['user/template-a-b.r', 'user template a-b r'],
    ['system/template-**.cru', 'system template ** cru'],
    ['patient/aql-org.openehr::compositions.rs', 'patient aql org.openehr::compositions rs'],
    ['user/aql-*.s', 'user aql * s'],
    ['user/aql-a%2Ab.s', 'user aql a*b s'],
    ['user/composition-10%25.ds', 'user composition 10% ds'],
    ['user/composition-%F0%9F%A9%BA.r', 'user composition 🩺 r'],
    ['user/composition-.hidden.r', 'user composition .hidden r'],
  ])('%s is read', (word, expected) => {
    expect(told(word)).toBe(expected);
  });

  it.each([
    ['openid'],
    ['fhirUser'],
    ['profile'],
    ['launch'],
    ['launch/patient'],
    ['launch/episode'],
    ['offline_access'],
    ['online_access'],
    ['patient'],
    ['user.read'],
    ['https://example.org/patient/composition-x.r'],
    ['tenant/composition-x.r'],
  ])('%s is about no record', (word) => {
    expect(told(word)).toBeNull();
    expect(SmartGrants.of([word])).toBeNull();
  });

  it.each([
    ['patient/composition-x', 'no permission'],
    ['patient/composition-x.', 'no permission'],
    ['patient/composition-.r', 'no name'],
    ['patient/composition.r', 'no name'],
    ['patient/composition-x.sr', 'another order'],
    ['patient/composition-x.rr', 'a letter twice'],
    ['patient/composition-x.rx', 'another letter'],
    ['patient/composition-x.R', 'another case'],
    ['patient/composition-x.read', 'words of SMART 1'],
    ['patient/composition-x.*', 'permissions are letters'],
    ['patient/composition-x.rs?a=b', 'a search'],
    ['patient/*.rs', 'everything of FHIR'],
    ['patient/Observation.rs', 'a resource of FHIR'],
    ['patient/folder-x.r', 'another kind'],
    ['patient/Composition-x.r', 'another case of the kind'],
    ['Patient/composition-x.r', 'another case of the compartment'],
    ['USER/aql-x.s', 'another case of the compartment'],
    ['user/aql-***.s', 'no wildcard'],
    ['user/aql-*x**.s', 'two kinds of wildcards'],
    ['user/aql-**x*.s', 'two kinds of wildcards'],
    ['user/composition-a%2.r', 'half a code'],
    ['user/composition-%ff.r', 'no UTF-8'],
    ['user/', 'nothing'],
    ['system//composition-x.r', 'two slashes'],
  ])('%s cannot be read (%s), and grants nothing', (word) => {
    expect(told(word)).toBe('unreadable');
    const grants = SmartGrants.of(['openid', word]);
    expect(grants?.unreadable).toEqual([word]);
    expect(grants?.allowsQuery({ kind: 'ad hoc' })).toBe(false);
  });

  it('of whatever length is read in time that grows with its length', () => {
    for (const long of ['*', 'a*', '*a', '.', 'r.', '%20', ':', 'a'])
      expect([null, 'unreadable', 'read']).toContain(readAt(`user/composition-${long.repeat(60_000)}.rs`));
    expect(readAt(`user/${'/composition-'.repeat(60_000)}.rs`)).toBe('unreadable');
    expect(readAt(`user/composition-x.${'cruds'.repeat(60_000)}`)).toBe('unreadable');
  });
});

function readAt(word: string): string | null {
  const scope = readScope(word);
  return scope === null || scope === 'unreadable' ? scope : 'read';
}

describe('the name of a scope', () => {
  const isFor = (pattern: string, name: string): boolean => {
    const scope = readScope(`user/aql-${pattern}.s`);
    if (scope === null || scope === 'unreadable') throw new TypeError(pattern);
    return isNamed(scope.name, name);
  };

  it.each([
    ['vitals', ['vitals'], ['vital', 'vitals2', 'org::vitals', 'Vitals']],
    ['*', ['vitals', 'a.b-c'], ['org::vitals']],
    ['**', ['vitals', 'org::vitals'], []],
    ['org::*', ['org::a', 'org::', 'org::a.b'], ['org::a::b', 'orga', 'other::a']],
    ['org::**', ['org::a', 'org::a::b'], ['orga']],
    ['*::vitals', ['org::vitals', '::vitals'], ['a::b::vitals', 'vitals']],
    ['*signs*', ['signs', 'vital signs.v1'], ['org::signs', 'sign']],
    ['a*b*c', ['abc', 'a1b2c', 'abbc'], ['acb', 'a:b:c']],
    ['a.b', ['a.b'], ['axb']],
    ['a%2Ab', ['a*b'], ['axb']],
  ])('%s fits what it should', (pattern, fitting, others) => {
    expect(fitting.filter((name) => !isFor(pattern, name))).toEqual([]);
    expect(others.filter((name) => isFor(pattern, name))).toEqual([]);
  });
});

describe('scopes', () => {
  it('need the EHR of a patient only where they are about what is in one', () => {
    const needs = (...words: string[]) => SmartGrants.of(words)?.needsEhr;
    expect(needs('patient/composition-x.c')).toBe(true);
    expect(needs('user/composition-x.c', 'patient/aql-x.rs')).toBe(true);
    expect(needs('patient/aql-x.r', 'patient/template-x.r')).toBe(false);
    expect(needs('patient/composition-x', 'user/composition-x.r')).toBe(false);
  });

  it('let ad hoc queries be executed by a wildcard that is the whole name alone, or by what may be searched for', () => {
    const allow = (word: string) => SmartGrants.of([word])?.allowsQuery({ kind: 'ad hoc' });
    expect(['user/aql-*.s', 'user/aql-**.rs', 'patient/composition-x.s'].map(allow)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      ['user/aql-a*.s', 'user/aql-*.r', 'user/composition-*.crud', 'user/template-*.s'].map(allow),
    ).toEqual([false, false, false, false]);
  });
});
