import { describe, expect, it } from '@jest/globals';

import { requireTags, tagFault } from '../../../change/item-tag/tag-content.js';
import { growth, LINEAR } from '../../support/growth.js';

const tag = (targetPath: string | null) => ({ key: 'review', value: 'open', targetPath });

describe('tagFault', () => {
  it.each([
    null,
    '/',
    '/context/start_time/value',
    '/content[openEHR-EHR-OBSERVATION.blood_pressure.v2]/data[at0001]/events[at0006]',
    "/content[openEHR-EHR-OBSERVATION.bp.v2, 'Blood, pressure/x]']/data",
    "/content[openEHR-EHR-OBSERVATION.bp.v2 and name/value='Left \\' arm']",
    "/content[name/value='Left']/data",
    '/content[name="Left" and at0001]/data',
    "/content[archetype_node_id='at0001']/data",
  ])('accepts the target_path %s', (path) => {
    expect(tagFault(tag(path))).toBeNull();
  });

  it.each(['context', 'content/data', ' /content'])('refuses %s, which does not start at root', (path) => {
    expect(tagFault(tag(path))).toBe(`target_path '${path}' does not start at root`);
  });

  it.each([
    '//content',
    '/content/',
    '/content[',
    '/content[]',
    '/content[1]',
    "/content[at0001 and value/value='x']",
    "/content[other='x']",
    '/content[at0001][at0002]',
    '/content[$where]',
  ])('refuses the target_path %s', (path) => {
    expect(tagFault(tag(path))).toContain('predicates on archetype_node_id and name only');
  });

  it('answers a long hostile path in time that grows with its length', () => {
    const judge = (length: number): void => {
      expect(tagFault(tag(`/${'a'.repeat(2 * length)}[${'a '.repeat(length)}`))).not.toBeNull();
    };
    expect(growth(judge, 2_000)).toBeLessThan(LINEAR);
  });

  it.each(['', ' ', 'a b', 'ä', 'a.b', 'a\n'])('refuses the key %j', (key) => {
    expect(tagFault({ ...tag(null), key })).toContain('key must not be blank');
  });

  it.each(['access.ward', 'access.a:b/c'])('accepts the key %s, which policies see', (key) => {
    expect(tagFault({ ...tag(null), key })).toBeNull();
  });

  it.each(['access.', 'access.a.b', 'x.access.ward', 'access'.repeat(84)])('refuses the key %s', (key) => {
    expect(tagFault({ ...tag(null), key })).toContain('key must not be blank');
  });

  it('refuses a blank value but not a missing one', () => {
    expect(tagFault({ ...tag(null), value: ' ' })).toBe('value must not be blank');
    expect(tagFault({ ...tag(null), value: null })).toBeNull();
  });
});

describe('requireTags', () => {
  it('refuses the same key and path twice', () => {
    expect(() => requireTags([tag('/x'), tag('/x')], 'invalid')).toThrow('given twice');
    expect(() => requireTags([tag('/x'), tag('/y'), tag(null)], 'invalid')).not.toThrow();
  });
});
