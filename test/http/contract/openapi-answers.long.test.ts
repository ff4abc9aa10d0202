import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';

import { documentedStatuses } from '../../../routes/http/openapi-document.js';
import { exampleOf } from '../../../routes/http/openapi/examples.js';
import { MEDIA_TYPES, type Operation } from '../../../routes/http/operation/operation.js';
import { parameterDescription } from '../../../routes/http/operation/parameters.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { testApp } from '../../support/app.js';
import { apiCases } from '../../support/api/cases.js';
import type { Call } from '../../support/api/probe.js';
import { ApiProbe } from '../../support/api/probe.js';
import { TEMPLATE } from '../../support/api/world.js';
import { useDatabase } from '../../support/database.js';
import { answerViolations, requestViolations } from '../../support/api/openapi-schema.js';
import { everythingOn } from '../../support/settings.js';
import { givenEhr } from '../../support/resources.js';
import { bearer } from '../../support/tokens.js';

/** What needs a slow query or check, a terminology server, a broken database or a full list; the tests of those show it. */
const SHOWN_ELSEWHERE: readonly (readonly [RegExp, number])[] = [
  [/^query_e/, 408],
  [/^query_e/, 502],
  [/^verify$/, 409],
  [/^dashboard_save$/, 409],
  [/^(composition_(create|update|preview)|contribution_create)$/, 502],
  [/^management_(health|liveness)$/, 503],
  [/^template_adl1.4_(get|webtemplate)$/, 422],
];
/** Another name of a parameter, not documented since only one vendor word is, and names that are told what to write. */
const ALIASES = ['query stdversion', 'query nonsense', 'query query', 'query aql'];
const MALFORMED = 'nonsense="1"';

useDatabase();

const probe = new ApiProbe();
const app = testApp();
const cases = apiCases(app);
const { operations } = probe;

let last: { readonly id: string; readonly call: Call } | undefined;

/** The first case of an operation: what succeeds, made anew but for a read again: it changed nothing. */
async function sample({ id, method }: Operation): Promise<Call> {
  if (method === 'GET' && last?.id === id) return last.call;
  const first = cases.find((candidate) => candidate.id === id);
  if (first === undefined) throw new Error(`no case for ${id}`);
  last = { id, call: await first.call() };
  return last.call;
}

/** How to get a status that many operations give for the same reason, from a request that succeeds. */
const GENERAL: Readonly<Record<number, (good: Call, operation: Operation) => Call | Promise<Call>>> = {
  400: (good) => ({
    ...good,
    query: `${good.query ?? '?'}&nonsense=1`,
    settings: { ...good.settings, strictParameters: true },
  }),
  401: (good) => ({ ...good, isAnonymous: true, settings: { auth: 'jwt' } }),
  403: (good, { access }) =>
    access === 'open'
      ? { ...withHeader(good, 'Host', 'elsewhere.example'), settings: { auth: 'none' } }
      : {
          ...withHeader(
            good,
            'Authorization',
            bearer(['anyone', 'read', 'write', 'define', 'draft'].includes(access) ? [] : ['USER']),
          ),
          settings: { auth: 'jwt' },
        },
  404: (good) => ({ ...good, params: { ...good.params, ehr_id: randomUUID() } }),
  406: (good) => withHeader(good, 'Accept', 'image/png'),
  409: async (good) => ({ ...good, params: { ...good.params, ehr_id: await mergedEhr() } }),
  304: async (good, { id }) =>
    withHeader(good, 'If-None-Match', String((await probe.call(id, good)).headers.etag)),
  413: (good) => ({ ...good, body: good.body ?? 'xx', settings: { maxBodyBytes: 1 } }),
  415: (good) => ({ ...withHeader(good, 'Content-Type', 'image/png'), body: good.body ?? 'x' }),
  422: (good, operation) => {
    if (operation.parameters?.includes('Idempotency-Key') === true) return withUsedKey(good, operation);
    const { body = operation.request === undefined ? undefined : {} } = good;
    const call = { ...withHeader(good, 'Accept', 'application/xml'), settings: { work: NO_WORK } };
    return body === undefined ? call : { ...call, headers: good.headers ?? {}, body };
  },
  429: async (good, { id }) => {
    const call = { ...good, settings: { rateLimitPerMinute: 1, rateLimitSparesLoopback: false } };
    await probe.call(id, call);
    return call;
  },
  503: (good, { access, path }) =>
    access === 'open' || path.startsWith('/management')
      ? { ...good, settings: { maxConcurrentRequests: 0 } }
      : { ...good, isStarting: true },
};

const NO_WORK = { ...everythingOn().work, steps: 0 };

/** A request whose key another one, which changed another version, had before. */
async function withUsedKey(good: Call, { id }: Operation): Promise<Call> {
  const keyed = withHeader(good, 'Idempotency-Key', randomUUID());
  await probe.call(id, keyed);
  return withHeader(keyed, 'If-Match', '"of another request"');
}

function withHeader(good: Call, name: string, value: string): Call {
  return { ...good, headers: { ...good.headers, [name]: value } };
}

async function mergedEhr(): Promise<string> {
  const ehrId = await givenEhr(app);
  const into = await givenEhr(app);
  await mongoose.connection
    .collection<{ _id: string }>('ehrs')
    .updateOne({ _id: ehrId }, { $set: { state: 'merged', merged_into: into } });
  return ehrId;
}

/** That what is answered, and not what was sent, is too large needs a large object. */
const isShownElsewhere = ({ id, request }: Operation, status: number): boolean =>
  (status === 413 && request === undefined) ||
  SHOWN_ELSEWHERE.some(([pattern, shown]) => shown === status && pattern.test(id));

it('knows the operation of each case', () => {
  const known = new Set(operations.map(({ id }) => id));
  expect(cases.filter(({ id }) => !known.has(id)).map(({ id }) => id)).toEqual([]);
});

describe('every operation', () => {
  it.each(operations.map((operation): [string, Operation] => [operation.id, operation]))(
    '%s gives exactly the statuses it documents',
    async (id, operation) => {
      const documented = [...documentedStatuses(operation)].sort((a, b) => a - b);
      const own = cases.filter((one) => one.id === id);
      for (const { status, call } of own)
        expect([status, (await probe.call(id, await call())).status]).toEqual([status, status]);
      for (const status of documented) {
        if (own.some((one) => one.status === status) || isShownElsewhere(operation, status)) continue;
        const change = GENERAL[status];
        if (change === undefined) throw new Error(`no case shows ${status} of ${id}`);
        const answer = await probe.call(id, await change(await sample(operation), operation));
        expect([status, answer.status]).toEqual([status, status]);
        if (status < 400) continue;
        for (const member of [/"error":|<error>/, /"message":|<message>/])
          expect(answer.text).toMatch(member);
      }
      const seen = [...(probe.statuses.get(id) ?? [])];
      const expected = documented.filter((status) => !isShownElsewhere(operation, status));
      expect(seen.sort((a, b) => a - b)).toEqual(expected);
    },
  );
});

describe('every media type, with the example of the document', () => {
  const given = operations.flatMap((operation) =>
    Object.entries(operation.responses).flatMap(([status, { body }]) =>
      body === undefined || Number(status) >= 300 || operation.path.startsWith('/management')
        ? []
        : MEDIA_TYPES[body.types].map((type): [string, string, string, Operation] => [
            operation.id,
            type,
            status,
            operation,
          ]),
    ),
  );
  const taken = operations.flatMap((operation) =>
    operation.request === undefined
      ? []
      : MEDIA_TYPES[operation.request.types].map((type): [string, string, Operation] => [
          operation.id,
          type,
          operation,
        ]),
  );

  it.each(given)('%s gives %s with %s', async (id, type, status, operation) => {
    // An operation may be answered without a body, and with one where it waits for somebody.
    const other = cases.find((one) => one.id === id && one.status === 202 && status === '202');
    const good = withHeader(
      other === undefined ? await sample(operation) : await other.call(),
      'Accept',
      type,
    );
    const answer = await probe.call(id, withHeader(good, 'Prefer', 'return=representation'));
    expect([answer.status < 300, answer.headers['content-type']]).toEqual([true, `${type}; charset=utf-8`]);
    if (/[/+]json$/.test(type)) expect(answerViolations(operation, type, answer)).toEqual([]);
  });

  it.each(taken)('%s takes %s', async (id, type, operation) => {
    const good = await sample(operation);
    const example = exampleOf(operation.request!.schema, type);
    if (/[/+]json$/.test(type)) expect(requestViolations(operation, type, example)).toEqual([]);
    const answer = await probe.call(id, {
      ...withHeader(good, 'Content-Type', type),
      ...(type.includes('openehr.wt') && { query: `?templateId=${TEMPLATE}` }),
      body: placed(example, good),
    });
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
  });
});

describe('every parameter', () => {
  const documented = operations.flatMap((operation) =>
    (operation.parameters ?? []).map((key): [string, string, Operation] => [
      operation.id,
      `${parameterDescription(key).in} ${parameterDescription(key).sentAs.toLowerCase()}`,
      operation,
    ]),
  );

  beforeAll(async () => {
    for (const { id, call } of cases) await probe.call(id, await call());
  });

  it.each(documented.filter(([, name]) => !/^header openehr-/.test(name)))('%s reads %s', (id, name) => {
    expect([...(probe.read.get(id) ?? [])]).toContain(name);
  });

  it.each(documented.filter(([, name]) => /^header openehr-/.test(name)))(
    '%s validates %s',
    async (id, name, operation) => {
      const header = name.slice('header '.length);
      const good = await sample(operation);
      const conflicting: Record<string, string> = {
        'openehr-template-id': 'templateId=other',
        'openehr-ehr-id': `ehr_id=${randomUUID()}`,
      };
      const query = conflicting[header.replaceAll('_', '-')];
      const call: Call = {
        ...good,
        headers: { ...good.headers, [header]: query === undefined ? MALFORMED : randomUUID() },
        ...(query !== undefined && simplified(good, query)),
      };
      expect([name, (await probe.call(id, call)).status]).toEqual([name, 400]);
    },
  );

  it('is documented where it is read', () => {
    for (const operation of operations) {
      const names = new Set(documented.filter(([id]) => id === operation.id).map(([, name]) => name));
      const read = [...(probe.read.get(operation.id) ?? [])].filter((name) => name.startsWith('query '));
      const others = read.filter((name) => !names.has(name) && !ALIASES.includes(name));
      expect([operation.id, others]).toEqual([operation.id, []]);
    }
  });
});

/** The example with the ids of this world: of the template, of the two EHRs. */
function placed(example: JsonValue | undefined, good: Call): string | object {
  if (typeof example === 'string') {
    const templateId =
      good.params?.template_id ??
      /<template_id>\s*<value>([^<]+)/.exec(typeof good.body === 'string' ? good.body : '')?.[1];
    return example.replace(TEMPLATE, example.includes('<template ') ? (templateId ?? '') : TEMPLATE);
  }
  const { source_ehr, target_ehr } = { ...(good.body as Record<string, string>) };
  const ehrs = {
    ...(source_ehr !== undefined && { source_ehr }),
    ...(target_ehr !== undefined && { target_ehr }),
  };
  return Object.keys(ehrs).length === 0 ? (example as object) : { ...(example as object), ...ehrs };
}

/** A query parameter that contradicts a header. */
function simplified(good: Call, query: string): Pick<Call, 'query'> {
  return { query: `${good.query ?? ''}${(good.query ?? '') === '' ? '?' : '&'}${query}` };
}
