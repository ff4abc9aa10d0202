import { describe, expect, it } from '@jest/globals';
import { eventCount, fhirEvent, interactionOf } from '../../../maintenance/access-log/fhir-event.js';
import type { AuditDoc } from '../../../models/audit.js';
import { everyOperation } from '../../../src/operation-table.js';
import { REQUIRED, violationsOf } from '../../support/access/balp.js';
import { Random } from '../../support/random.js';
import { readFileSync } from 'node:fs';

const { operations } = everyOperation();
const observer = { systemId: 'local.cdr', operations: new Map(operations.map((row) => [row.id, row])) };
/** Operations of the command line, of addresses that none has, and of releases to come. */
const OTHERS = [
  'pruneAudit',
  'restore',
  'undoRestore',
  'unknown',
  'query_execute_in_future',
  'widget_create',
];

/** A record with some of its members, as a request of any kind could leave it. */
function aRecord(operation: string, random: Random): AuditDoc {
  const some = <T extends object>(members: T): T | object => (random.chance(0.5) ? members : {});
  const uuid = (): string => `${String(random.whole(10_000_000, 99_999_999))}-4199-4bad-97dc-d78268e01398`;
  return {
    _id: `0mbcdefgh-${String(random.whole(1_000_000, 9_999_999))}`,
    time: new Date(random.whole(0, 2_000_000_000) * 1_000),
    user: 'Ada',
    operation,
    request_id: uuid(),
    status: random.pick([200, 201, 204, 304, 400, 401, 403, 404, 409, 500, 503]),
    ...some({ sub: 'ada' }),
    ...some({ issuer: random.pick(['basic', 'https://issuer.example/realm', 'a b']) }),
    ...some({ client_id: 'app' }),
    ...some({ actor: 'service' }),
    ...some({ actor_issuer: 'https://issuer.example' }),
    ...some({ address: random.pick(['127.0.0.1', '::1']) }),
    ...some({ ehr_id: random.pick([uuid(), 'no-uuid']) }),
    ...some({ ehr_ids: random.list(0, 3, uuid) }),
    ...some({ objects: random.list(1, 3, () => `${uuid()}::local.cdr::1`) }),
    ...some({ target: uuid() }),
    ...some({ aql: 'SELECT e FROM EHR e WHERE e/ehr_id/value = ?' }),
    ...some({ rows: random.whole(0, 3) }),
    ...some({ population: true as const }),
    ...some({ organisation: 'ward 3' }),
    ...some({ purpose: 'TREAT' }),
    ...some({ policies: random.list(1, 2, (index) => `policy-${index}`) }),
    ...some({ hidden: true as const }),
    ...some({ pending: true as const }),
    ...some({ outcome: 'incomplete' }),
    ...some({ templates: ['a.v1'] }),
    ...some({ reason: 'because' }),
  };
}

describe('the FHIR event', () => {
  it('of every operation has each required element of its profile, whatever the record has', () => {
    const random = new Random(20261128);
    const profiles = new Set<string>();
    for (const operation of [...operations.map(({ id }) => id), ...OTHERS])
      for (let draw = 0; draw < 20; draw += 1) {
        const record = aRecord(operation, random);
        for (let index = 0; index < eventCount(record); index += 1) {
          const event = fhirEvent(record, index, observer);
          expect([operation, record, violationsOf(event as never)]).toEqual([operation, record, []]);
          profiles.add(
            String((event as { meta: { profile: string[] } }).meta.profile[0])
              .split('.')
              .at(-1) ?? '',
          );
        }
      }
    const names = ['Read', 'Query', 'Create', 'Update', 'Delete'];
    expect([...profiles].sort()).toEqual([...names, ...names.map((name) => `Patient${name}`)].sort());
  });

  it('does what its operation does', () => {
    const of = (id: string): string => interactionOf(id, observer.operations.get(id));
    expect(
      Object.fromEntries(
        [
          ...[
            'composition_get',
            'composition_create',
            'composition_update',
            'composition_delete',
            'contribution_create',
          ],
          ...[
            'query_execute_adhoc_post',
            'query_explain',
            'ehr_find',
            'overview_get',
            'mergeEhrs',
            'deleteEhr',
          ],
          ...['ehr_create_with_id', 'composition_preview', 'unknown', 'pruneAudit'],
        ].map((id) => [id, of(id)]),
      ),
    ).toEqual({
      composition_get: 'read',
      composition_create: 'create',
      composition_update: 'update',
      composition_delete: 'delete',
      contribution_create: 'create',
      query_execute_adhoc_post: 'search',
      query_explain: 'search',
      ehr_find: 'search',
      overview_get: 'search',
      mergeEhrs: 'update',
      deleteEhr: 'delete',
      ehr_create_with_id: 'create',
      composition_preview: 'read',
      unknown: 'read',
      pruneAudit: 'delete',
    });
  });

  it('fails the check where an element is missing, so that the check can fail', () => {
    const record = aRecord('composition_get', new Random(1));
    const whole = fhirEvent({ ...record, sub: 'ada', ehr_id: 'x' }, 0, observer);
    expect(violationsOf(whole as never)).toEqual([]);
    for (const name of ['type', 'subtype', 'action', 'recorded', 'outcome', 'agent', 'source', 'entity'])
      expect([name, violationsOf({ ...whole, [name]: undefined } as never).length > 0]).toEqual([name, true]);
  });

  it('has a row for each required element in its page', () => {
    const page = readFileSync(new URL('../../../docs/access-log.md', import.meta.url), 'utf8');
    const missing = REQUIRED.filter(({ element }) => !page.includes(`| \`${element}\` |`));
    expect(missing.map(({ element }) => element)).toEqual([]);
  });
});
