import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import {
  MARK_ROLES,
  OBJECTED,
  putMarks,
  RESTRICTED,
  ROOT,
  tokenOf,
  WITHHELD,
} from '../../support/policy/marks.js';
import { putPolicies } from '../../support/policy/put.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { Random } from '../../support/random.js';
import { everythingOn } from '../../support/settings.js';

/**
 * The law: `Everchart-Withheld` is told exactly when the same request, stated as an emergency, is answered, and with more of what the
 * request looks at: the EHR of its path, and what it names there; of a query about one EHR all of that EHR. So it is never told to who may not
 * state one, nor of what no emergency opens, and always of what one would open. A query about all EHRs is not here: see docs/access.md.
 */

useDatabase();

const app = testApp({
  ...everythingOn({ auth: 'jwt', accessMode: 'enforce', auditReads: false }),
  rolePermissions: { ...MARK_ROLES, CHIEF: ['read', 'write', 'admin', 'emergency'] },
});
const open = testApp();
const TEMPLATE = 'minimal_evaluation.en.v1';
const EMERGENCIES = ['ETREAT', 'BTG'].map((purpose) => ({
  'Purpose-Of-Use': purpose,
  'Purpose-Of-Use-Reason': 'unconscious',
}));

/** What is on an EHR; `uid`: of its COMPOSITION's container. */
const MARKS: Readonly<Record<string, (uid: string) => object[]>> = {
  nothing: () => [],
  'a restriction of processing': () => [RESTRICTED],
  "the patient's restriction": () => [WITHHELD],
  'an objection to research': () => [OBJECTED],
  'both restrictions': () => [RESTRICTED, WITHHELD],
  'all three': () => [OBJECTED, WITHHELD, RESTRICTED],
  "the patient's restriction of a template": () => [{ ...WITHHELD, template_id: TEMPLATE }],
  "the patient's restriction of another template": () => [{ ...WITHHELD, template_id: 'other' }],
  "the patient's restriction of a document": (uid) => [{ ...WITHHELD, object_uid: uid }],
  'a restriction of processing of a document': (uid) => [{ ...RESTRICTED, object_uid: uid }],
  'both, of a document and its template': (uid) => [
    { ...RESTRICTED, object_uid: uid },
    { ...WITHHELD, template_id: TEMPLATE },
  ],
  'a restricted EHR with a template that the patient restricts': () => [
    RESTRICTED,
    { ...WITHHELD, template_id: TEMPLATE },
  ],
  "the patient's restriction for another organisation": () => [{ ...WITHHELD, organisation: 'elsewhere' }],
};

const PERMIT = 'permit (principal, action, resource);';
const POLICIES: Readonly<Record<string, (ehr: string) => Readonly<Record<string, string>>>> = {
  'no policy': () => ({}),
  'a policy for all': () => ({ all: PERMIT }),
  'default deny without an emergency': () => ({
    all: 'permit (principal, action, resource) when { principal.sub == "nobody" };',
  }),
  'default deny but for an emergency': () => ({ glass: `@emergency("only") ${PERMIT}` }),
  'default deny but for an emergency elsewhere': (ehr) => ({
    glass: `@emergency("only") permit (principal, action, resource) unless { resource.ehr_id == "${ehr}" };`,
  }),
  'documents forbidden, which an emergency may pass': () => ({
    all: PERMIT,
    may: '@emergency("may pass") forbid (principal, action, resource) when { resource is Version && resource.kind == "COMPOSITION" };',
  }),
  'default deny but to who breaks the glass': () => ({
    purpose:
      'permit (principal, action, resource) when { principal has purpose && principal.purpose == "BTG" };',
  }),
  'documents forbidden for good': () => ({
    all: PERMIT,
    never:
      'forbid (principal, action, resource) when { resource is Version && resource.kind == "COMPOSITION" };',
    may: `@emergency("may pass") forbid (principal, action, resource) when { resource is Version && resource has template_id && resource.template_id == "${TEMPLATE}" };`,
  }),
};

const WHO: Readonly<Record<string, (ehr: string) => string>> = {
  'a nurse without the permission': () => tokenOf(['USER'], {}, 'nurse'),
  'a night nurse': () => tokenOf(['NIGHT'], {}, 'night'),
  'a night nurse of another house': () => tokenOf(['NIGHT'], { organisation: 'here' }, 'guest'),
  'a night nurse in care': () => tokenOf(['NIGHT'], { purpose_of_use: 'TREAT' }, 'night'),
  'a night nurse who does research': () => tokenOf(['NIGHT'], { purpose_of_use: 'HRESCH' }, 'night'),
  'a token of an emergency without a reason': () => tokenOf(['NIGHT'], { purpose_of_use: 'ETREAT' }, 'night'),
  'the patient': (ehr) => tokenOf(['USER'], { ownEhrId: ehr }, 'patient'),
  'an administrator with the permission': () => tokenOf(['CHIEF'], {}, 'chief'),
  'an administrator without': () => ROOT,
};

interface Given {
  readonly ehr: string;
  readonly uid: string;
  readonly container: string;
  /** An EHR beside it, without marks. */
  readonly other: string;
}

/** What is asked for, by the id of the operation or what it is about. */
const REQUESTS = {
  ehr_get: ({ ehr }: Given) => `${V1}/ehr/${ehr}`,
  ehr_status_get: ({ ehr }: Given) => `${V1}/ehr/${ehr}/ehr_status`,
  composition_get: ({ ehr, uid }: Given) => `${V1}/ehr/${ehr}/composition/${uid}`,
  latest: ({ ehr, container }: Given) => `${V1}/ehr/${ehr}/composition/${container}`,
  history: ({ ehr, container }: Given) =>
    `${V1}/ehr/${ehr}/versioned_composition/${container}/revision_history`,
  tags: ({ ehr, container }: Given) => `${V1}/ehr/${ehr}/composition/${container}/tags`,
  ehr_find: ({ ehr }: Given) => `/rest/ehrs?identifier=${ehr}`,
  other: ({ other }: Given) => `${V1}/ehr/${other}`,
  listEhrs: () => '/rest/admin/ehr?fetch=1000',
  ofEhr: ({ ehr }: Given) => queryOf('SELECT e/ehr_id/value FROM EHR e', ehr),
  ofStatus: ({ ehr }: Given) => queryOf('SELECT s/uid/value FROM EHR e CONTAINS EHR_STATUS s', ehr),
  ofDocuments: ({ ehr }: Given) => queryOf('SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr),
};
type Requested = keyof typeof REQUESTS;

/** A query is about all of its EHR, whatever it selects; what is in an EHR is looked for in it. */
const QUERIES = ['ofEhr', 'ofStatus', 'ofDocuments'] as const;
function looksAt(operation: Requested): readonly Requested[] {
  if ((QUERIES as readonly string[]).includes(operation)) return QUERIES;
  // An emergency is for one record: a list tells of those that it would open one by one.
  if (operation === 'listEhrs') return ['ehr_get', 'other'];
  return ['ehr_get', 'ehr_find', 'other'].includes(operation) ? [operation] : ['ehr_get', operation];
}

function queryOf(q: string, ehr: string): string {
  return `${V1}/query/aql?${new URLSearchParams({ q, ehr_id: ehr }).toString()}`;
}

async function asked(path: string, token: string, headers: object = {}) {
  const answer = await request(app)
    .get(path)
    .set({ Authorization: token, ...headers });
  const { rows } = answer.body as Json;
  return {
    status: answer.status,
    told: answer.headers['everchart-withheld'],
    content: JSON.stringify(rows ?? answer.body),
  };
}

let other = '';
beforeAll(async () => {
  await givenTemplate(open);
  other = await givenEhr(open);
});

afterEach(async () => {
  const { body } = await request(app).get('/rest/admin/policies').set('Authorization', ROOT).expect(200);
  for (const { id } of (body as Json).policies as Json[])
    await request(app)
      .delete(`/rest/admin/policies/${String(id)}`)
      .set('Authorization', ROOT)
      .expect(204);
});

interface Cell {
  readonly mark: string;
  readonly policy: string;
}

const CELLS: readonly Cell[] = Object.keys(MARKS).flatMap((mark) =>
  Object.keys(POLICIES).map((policy) => ({ mark, policy })),
);

/** As many as fit, in an order that a seed draws. */
function drawn(): Cell[] {
  const random = new Random(firstSeed());
  const left = [...CELLS];
  const count = Math.min(left.length, draws({ small: 12, full: 104 }));
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!);
}

/** What everybody is told, and whether an emergency answers more, by what is asked for. */
async function answersTo(given: Given, token: string) {
  const all = Object.entries(REQUESTS).map(async ([operation, pathOf]) => {
    const plain = await asked(pathOf(given), token);
    const broken = [];
    for (const headers of EMERGENCIES) broken.push(await asked(pathOf(given), token, headers));
    expect(broken.map(({ told }) => told)).toEqual([undefined, undefined]);
    const opens = broken.some(({ status, content }) => status < 300 && content !== plain.content);
    const isRefused = plain.status === 403;
    return [operation as Requested, { told: plain.told === 'emergency', opens, isRefused }] as const;
  });
  return new Map(await Promise.all(all));
}

describe('that something is withheld is told exactly when an emergency would open it', () => {
  it.each(drawn())('$mark, $policy', async ({ mark, policy }) => {
    const ehr = await givenEhr(open);
    const uid = await givenComposition(open, ehr);
    const given = { ehr, uid, container: uid.split('::')[0] ?? '', other };
    await putMarks(app, ehr, MARKS[mark]?.(given.container) ?? []).expect(200);
    await putPolicies(app, POLICIES[policy]?.(ehr) ?? {}, ROOT);
    for (const [who, token] of Object.entries(WHO)) {
      const answers = await answersTo(given, token(ehr));
      for (const [operation, { told, isRefused }] of answers) {
        const opens = !isRefused && looksAt(operation).some((one) => answers.get(one)?.opens === true);
        expect({ who, operation, told }).toEqual({ who, operation, told: opens });
      }
    }
    await putMarks(app, ehr, []).expect(200);
  });
});
