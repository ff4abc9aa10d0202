import { describe, expect, it } from '@jest/globals';
import type { Context } from 'koa';
import { commitPairs } from '../../../routes/http/request/commit-pairs.js';
import { growth, LINEAR } from '../../support/growth.js';

function pairsOf(headers: Record<string, string>): { audit: object; version: object } {
  const { audit, version } = commitPairs({ headers } as unknown as Context);
  return { audit: Object.fromEntries(audit), version: Object.fromEntries(version) };
}

describe('commit metadata headers', () => {
  it.each([
    [{ 'openehr-audit_details': 'change_type.code_string="251",description.value="corrected dose"' }],
    [{ 'std-audit-details': 'change_type.code_string=251; description.value="corrected dose"' }],
    [
      {
        'openehr-audit_details.change_type': 'code_string="251"',
        'openehr-audit-details.description': 'value="corrected dose"',
      },
    ],
    [
      {
        'openehr-audit_details': 'change_type.code_string="251"',
        'std-audit-details.description': 'value="corrected dose"',
      },
    ],
    [
      {
        'openehr-audit_details':
          'change_type.code_string="251", description.value="corrected dose", change_type.code_string="251"',
      },
    ],
  ])('mean the same: %j', (headers: Record<string, string>) => {
    expect(pairsOf(headers).audit).toEqual({
      'change_type.code_string': '251',
      'description.value': 'corrected dose',
    });
  });

  it('reads nested keys, escapes, separators within quotes, UTF-8', () => {
    const name = Buffer.from('Zoë', 'utf8').toString('latin1');
    expect(
      pairsOf({
        'openehr-audit_details.committer': `name="${name}", external_ref.id="a;1", external_ref.namespace="d", external_ref.type="PERSON"`,
        'openehr-audit_details': String.raw`description.value="say \"hi\" \\ bye"`,
      }).audit,
    ).toEqual({
      'committer.name': 'Zoë',
      'committer.external_ref.id': 'a;1',
      'committer.external_ref.namespace': 'd',
      'committer.external_ref.type': 'PERSON',
      'description.value': String.raw`say "hi" \ bye`,
    });
  });

  it.each([
    ['lifecycle_state.code_string="553"', 'openehr-version', 'lifecycle_state.code_string', '553'],
    ['complete', 'openehr-version.lifecycle_state', 'lifecycle_state.value', 'complete'],
    ['553', 'std-version.lifecycle-state', 'lifecycle_state.code_string', '553'],
    ['value="complete"', 'openehr-version.lifecycle_state', 'lifecycle_state.value', 'complete'],
    ['signature="abc="', 'openehr-version', 'signature', 'abc='],
  ])('reads %s of %s', (text, header, key, value) => {
    expect(pairsOf({ [header]: text }).version).toEqual({ [key]: value });
  });

  it.each([
    [{ 'openehr-audit_details': 'change_type.code_string="251",change_type.code_string="250"' }],
    [{ 'openehr-audit_details': 'shade="x"' }],
    [{ 'openehr-audit_details': '__proto__="x"' }],
    [{ 'openehr-audit_details': 'change_type.code_string' }],
    [{ 'openehr-audit_details': 'change_type.code_string="251' }],
    [{ 'openehr-audit_details': '="251"' }],
    [{ 'openehr-audit_details': 'a b' }],
    [{ 'openehr-version': 'change_type.code_string="251"' }],
    [{ 'openehr-version': 'signature="a"', 'std-version': 'signature="b"' }],
    [{ 'openehr-version': 'signature="a"', 'std-version': 'lifecycle_state.value="complete"' }],
  ])('refuses %j', (headers: Record<string, string>) => {
    expect(() => pairsOf(headers)).toThrow('commit metadata header');
  });

  it('reads long headers in linear time', () => {
    const read = (length: number): void => {
      const long = `description.value="${'\\"'.repeat(length)}`;
      expect(() => pairsOf({ 'openehr-audit_details': long })).toThrow();
    };
    expect(growth(read, 8_000)).toBeLessThan(LINEAR);
  });
});
