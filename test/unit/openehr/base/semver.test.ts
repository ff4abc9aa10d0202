import { describe, expect, it } from '@jest/globals';

import type { SemanticVersion } from '../../../../openehr/base/semver.js';
import {
  chooseVersion,
  compareVersions,
  exactVersion,
  formatVersion,
  nextVersion,
  parseVersionPrefix,
} from '../../../../openehr/base/semver.js';

const version = (text: string): SemanticVersion => exactVersion(parseVersionPrefix(text)!)!;
const versions = (...texts: string[]): SemanticVersion[] => texts.map(version);

describe('parseVersionPrefix', () => {
  it.each([
    ['1', { major: 1, minor: null, patch: null, prerelease: null }],
    ['1.20', { major: 1, minor: 20, patch: null, prerelease: null }],
    ['1.2.3', { major: 1, minor: 2, patch: 3, prerelease: null }],
    ['1.2.3-rc.1', { major: 1, minor: 2, patch: 3, prerelease: 'rc.1' }],
    ['01.0.0', { major: 1, minor: 0, patch: 0, prerelease: null }],
  ])('reads %s', (text, expected) => {
    expect(parseVersionPrefix(text)).toEqual(expected);
  });

  it.each([
    '',
    'v1',
    '1.',
    '.1',
    '1.2.3.4',
    '1-rc',
    '1.2-rc',
    '1.2.3-',
    '1.2.3+build',
    '-1',
    '1.x',
    '9999999999',
  ])('refuses %s', (text) => {
    expect(parseVersionPrefix(text)).toBeNull();
  });
});

describe('compareVersions', () => {
  it('orders as SEMVER 2.0 section 11 does', () => {
    const ordered = versions(
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.10.0',
      '2.0.0',
    );
    const shuffled = ordered.toReversed();
    expect(shuffled.sort(compareVersions).map(formatVersion)).toEqual(ordered.map(formatVersion));
  });
});

describe('chooseVersion', () => {
  const stored = versions('1.0.0', '1.2.0', '1.2.9', '1.2.10', '2.0.0', '3.0.0-rc.1');

  it.each([
    ['1', '1.2.10'],
    ['1.0', '1.0.0'],
    ['1.2.9', '1.2.9'],
    ['3.0.0-rc.1', '3.0.0-rc.1'],
  ])('gives the highest release for %s', (prefix, expected) => {
    expect(formatVersion(chooseVersion(stored, parseVersionPrefix(prefix))!)).toBe(expected);
  });

  it('gives the highest release of all without a prefix', () => {
    expect(formatVersion(chooseVersion(stored, null)!)).toBe('2.0.0');
  });

  it.each(['3', '3.0', '3.0.0', '1.1', '4.0.0-rc.1'])('finds nothing for %s', (prefix) => {
    expect(chooseVersion(stored, parseVersionPrefix(prefix))).toBeNull();
  });
});

describe('nextVersion', () => {
  it.each([
    [null, [], '1.0.0'],
    [null, ['1.0.0', '1.5.0'], '2.0.0'],
    [null, ['1.0.0-rc.1'], '1.0.0'],
    ['3', ['1.0.0'], '3.0.0'],
    ['1', ['1.0.0', '1.4.2', '2.9.0'], '1.5.0'],
    ['1.4', ['1.4.2', '1.5.0'], '1.4.3'],
    ['1.7', ['1.4.2'], '1.7.0'],
    ['1.4.2', ['1.4.2'], '1.4.2'],
    ['1.4.2-x', [], '1.4.2-x'],
  ])('given %s after %j is %s', (prefix, existing, expected) => {
    const wanted = prefix === null ? null : parseVersionPrefix(prefix);
    expect(formatVersion(nextVersion(versions(...existing), wanted))).toBe(expected);
  });
});
