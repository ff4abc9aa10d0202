import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { StoredPolicy } from '../../../console/src/api/access.js';
import { de } from '../../../console/src/messages/de.js';
import { english } from '../../../console/src/messages/english.js';
import { cedarCompletions } from '../../../console/src/pages/administration/access/cedar-completions.js';
import { cedarToken, type CedarKind } from '../../../console/src/pages/administration/access/cedar-tokens.js';
import {
  changeSentences,
  changesNothing,
  principalText,
  reasonsOf,
} from '../../../console/src/pages/administration/access/decision-words.js';
import {
  linesOf,
  policiesOf,
  textIn,
  withText,
} from '../../../console/src/pages/administration/access/draft.js';
import { usesOf } from '../../../console/src/pages/administration/access/emergency-uses.js';
import { offsetIn } from '../../../console/src/pages/administration/access/places.js';
import { policyGist } from '../../../console/src/pages/administration/access/policy-gist.js';
import { NO_PRINCIPAL, principalOf } from '../../../console/src/pages/administration/access/principal.js';
import { readyPoliciesIn } from '../../../console/src/pages/administration/access/ready-policies.js';
import { readPolicy } from '../../../policy/read-policy.js';

/** The pieces of a line that are anything to the eye. */
function painted(line: string): [string, CedarKind][] {
  const pieces: [string, CedarKind][] = [];
  for (let at = 0; at < line.length;) {
    const { end, kind } = cedarToken(line, at);
    expect(end).toBeGreaterThan(at);
    if (kind !== null) pieces.push([line.slice(at, end), kind]);
    at = end;
  }
  return pieces;
}

describe('Cedar in colours', () => {
  it('knows keywords, who asks, types, strings, annotations and comments', () => {
    expect(painted('@emergency("only") permit (principal, action == Action::"read", resource);')).toEqual([
      ['@emergency', 'code'],
      ['"only"', 'string'],
      ['permit', 'keyword'],
      ['principal', 'parameter'],
      ['action', 'parameter'],
      ['Action', 'class'],
      ['"read"', 'string'],
      ['resource', 'parameter'],
    ]);
    expect(painted('when { resource is Version && 3 < 40 } // permit')).toEqual([
      ['when', 'keyword'],
      ['resource', 'parameter'],
      ['is', 'keyword'],
      ['Version', 'class'],
      ['3', 'number'],
      ['40', 'number'],
      ['// permit', 'comment'],
    ]);
  });

  it('takes no attribute and no text for a keyword, and ends whatever is typed', () => {
    expect(painted('principal.has "when \\" // { forbid"')).toEqual([
      ['principal', 'parameter'],
      ['"when \\" // { forbid"', 'string'],
    ]);
    expect(painted('x == "not closed')).toEqual([['"not closed', 'string']]);
    expect(painted('äöü § {{')).toEqual([]);
  });
});

describe('what completes a policy', () => {
  const labels = (before: string) => cedarCompletions(before)?.options.map(({ label }) => label);

  it('is what its place can take', () => {
    expect(labels('when { principal.')).toEqual(expect.arrayContaining(['roles', 'organisation']));
    expect(labels('when { principal.')).not.toContain('template_id');
    expect(labels('when { resource.tem')).toEqual(
      expect.arrayContaining(['template_id', 'hasTag("access.")']),
    );
    expect(labels('when { resource has ')).toContain('template_id');
    expect(labels('when { resource has ')).not.toContain('hasTag("access.")');
    expect(labels('action == Action::"')).toEqual(['read', 'create', 'update', 'delete', 'query', 'export']);
    expect(labels('when { principal.roles.')).toContain('contains()');
    expect(labels('perm')).toContain('permit');
    expect(cedarCompletions('principal.ro')?.from).toBe('principal.'.length);
    expect(cedarCompletions('principal.')?.options.find(({ label }) => label === 'ehr')?.detail).toBe(
      'String, has',
    );
  });

  it('is nothing in a text or a comment, or where nothing is begun', () => {
    for (const before of ['principal.sub == "principal.', '// resource.', 'permit (principal, ', ''])
      expect(labels(before)).toBeUndefined();
  });
});

it('the gist of a policy is what its writer says, else how it begins', () => {
  expect(policyGist('// Ward 3B\npermit (principal, action, resource);')).toEqual({
    effect: 'permit',
    says: 'Ward 3B',
    emergency: undefined,
    isOfCounts: false,
  });
  const forbid =
    '// permit nothing\n@description("no \\"VIP\\"") @emergency("may pass")\nforbid (principal, action, resource);';
  expect(policyGist(forbid)).toEqual({
    effect: 'forbid',
    says: 'no "VIP"',
    emergency: 'may pass',
    isOfCounts: false,
  });
  expect(policyGist('@counts("10")\npermit (principal, action, resource);').isOfCounts).toBe(true);
  expect(policyGist('// no @counts here\npermit (principal, action, resource);').isOfCounts).toBe(false);
  expect(policyGist(`permit (principal, action, resource)\nwhen { ${'x'.repeat(200)} };`).says).toMatch(
    /^permit \(principal, action, resource\) when \{ x+…$/,
  );
  expect(policyGist('permit (principal, action, resource) when { principal.sub == "forbid" };').effect).toBe(
    'permit',
  );
});

it('a place of the server is an offset in the text, whatever is behind its end', () => {
  const text = 'permit (\n  x\n);';
  expect(text.slice(offsetIn(text, 2, 3))).toBe('x\n);');
  expect(offsetIn(text, 1, 1)).toBe(0);
  expect(offsetIn(text, 99, 99)).toBe(text.length);
});

describe('a draft of policies', () => {
  const stored: StoredPolicy[] = ['a', 'b', 'c'].map((id) => ({
    id,
    policy: `text of ${id}`,
    version: 1,
    time: '',
    by: 'root',
  }));

  it('has what is stored, with what is written in place of it', () => {
    let draft = withText({}, stored, ['b', 'other']);
    draft = withText(draft, stored, ['c', null]);
    draft = withText(draft, stored, ['d', 'new']);
    expect(linesOf(draft, stored)).toEqual([
      { id: 'b', change: 'changed' },
      { id: 'c', change: 'removed' },
      { id: 'd', change: 'new' },
    ]);
    expect(policiesOf(draft, stored)).toEqual([
      { id: 'a', policy: 'text of a' },
      { id: 'b', policy: 'other' },
      { id: 'd', policy: 'new' },
    ]);
    expect(textIn(draft, stored, 'c')).toBeNull();
    expect(textIn({}, stored, 'c')).toBe('text of c');
  });

  it('is none where it says what is stored', () => {
    const draft = withText({}, stored, ['b', 'other']);
    expect(withText(draft, stored, ['b', 'text of b'])).toEqual({});
    expect(withText(draft, stored, ['b', undefined])).toEqual({});
    expect(withText({}, stored, ['nobody', null])).toEqual({});
  });
});

describe('a decision in words', () => {
  const keysOf = (...of: Parameters<typeof reasonsOf>) => reasonsOf(...of).map(({ key }) => key);

  it('says which policies and marks decided, else that none did', () => {
    expect(reasonsOf({ decision: 'permit', policies: ['ward'], marks: [] })).toEqual([
      { key: 'try.permits', values: { id: 'ward' }, policy: 'ward' },
    ]);
    expect(keysOf({ decision: 'forbid', policies: ['x'], marks: ['patient_restriction'] })).toEqual([
      'try.forbids',
      'try.mark.patient_restriction',
    ]);
    expect(keysOf({ decision: 'forbid', policies: [], marks: [] })).toEqual(['try.unsaid']);
    expect(keysOf({ decision: 'permit', policies: [], marks: [] })).toEqual(['try.unrestricted']);
  });

  it('counts what somebody would see more and less', () => {
    expect(changeSentences({ gained: 2, lost: 1 }, 'records')).toEqual([
      { key: 'compare.records.lost', values: { count: 1 } },
      { key: 'compare.records.gained', values: { count: 2 } },
    ]);
    expect(changeSentences({ gained: 0, lost: 0 }, 'contents')).toEqual([]);
    const difference = { principal: 0, action: 'read', ehrs: { gained: 0, lost: 0 }, templates: {} } as const;
    const comparison = (lost: number) => ({
      examined: { ehrs: 1, versions: 1 },
      complete: true,
      differences: [{ ...difference, versions: { gained: 0, lost } }],
      examples: [],
    });
    expect(changesNothing(comparison(0))).toBe(true);
    expect(changesNothing(comparison(1))).toBe(false);
  });

  it('is about whom is typed: roles in upper case, once, and nothing that is empty', () => {
    const typed = { ...NO_PRINCIPAL, roles: 'night, Physician,night', organisation: ' 3B ' };
    expect(principalOf(typed)).toEqual({
      sub: 'somebody',
      roles: ['NIGHT', 'PHYSICIAN'],
      organisation: '3B',
    });
    expect(principalText(principalOf({ ...typed, sub: 'ada' }))).toBe('ada · NIGHT, PHYSICIAN · 3B');
  });
});

describe('uses of emergency access', () => {
  const at = (time: string, more: object = {}) => ({
    time: `2026-11-28T${time}:00.000Z`,
    user: 'nora',
    operation: 'emergency_access',
    status: 200,
    request_id: time,
    ehr_id: 'e1',
    purpose: 'BTG',
    reason: 'unconscious',
    ...more,
  });

  it('are requests of one person, record and reason, one after the other', () => {
    const uses = usesOf([
      at('03:40'),
      at('03:39', { ehr_id: 'e2' }),
      at('03:20'),
      at('02:55'),
      at('02:00'),
      at('01:59', { reason: 'another' }),
    ]);
    expect(
      uses.map(({ ehrId, reason, requests, from }) => [ehrId, reason, requests, from.slice(11, 16)]),
    ).toEqual([
      ['e1', 'unconscious', 3, '02:55'],
      ['e2', 'unconscious', 1, '03:39'],
      ['e1', 'unconscious', 1, '02:00'],
      ['e1', 'another', 1, '01:59'],
    ]);
    expect(usesOf([])).toEqual([]);
  });
});

describe('the ready policies', () => {
  const [, section = ''] = readFileSync('docs/access.md', 'utf8').split('\n## Ready policies\n');
  const ready = readyPoliciesIn(section.split('\n## ')[0] ?? '');

  it('are those of the page on access, each with a word in both languages, and can be stored', async () => {
    expect(ready.length).toBeGreaterThan(4);
    for (const { id, policy } of ready) {
      for (const catalogue of [english, de])
        expect((catalogue as Readonly<Record<string, string>>)[`ready.${id}`]).toMatch(/\w/);
      expect((await readPolicy(id, policy)).policy).not.toBeNull();
    }
  });
});
