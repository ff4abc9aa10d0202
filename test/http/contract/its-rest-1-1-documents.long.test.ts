import { describe, expect, it } from '@jest/globals';
import type request from 'supertest';
import { releasedCases } from '../../support/api/admin-cases.js';
import { apiCases } from '../../support/api/cases.js';
import { officialOperations, rowOf } from '../../support/api/its-rest-documents.js';
import { ApiProbe } from '../../support/api/probe.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { RELEASE_1_1 } from '../../support/settings.js';

/** Where a case of the default edition has another status in 1.1.0: docs/spec/rest.md#dialects */
const OTHERWISE: Readonly<Record<string, number>> = {
  'ehr_status_update 200': 204,
  'composition_update 200': 204,
  'directory_update 200': 204,
  'composition_tags_update 200': 204,
  'ehr_status_tags_update 200': 204,
};

/**
 * Statuses that the documents give to no operation, or not to this one, and that HTTP or their own overview has for all: who asks,
 * what can be negotiated, how much there is; what is merged away or cannot be modified (409); semantic errors (422); what is not
 * offered (501).
 */
const OF_ANY_OPERATION: readonly number[] = [
  304, 400, 401, 403, 404, 406, 409, 412, 413, 415, 422, 429, 501, 503,
];

/** What `TEMPLATE_REVISIONS` adds: another upload of the same text. */
const OF_REVISIONS = 'definition_template_adl1.4_upload 200';

/** The version that deletes a directory is named by its uid: answered as the documents answer it for a COMPOSITION. */
const AS_COMPOSITION = 'directory_get_by_version_id 204';

useDatabase();
const probe = new ApiProbe(RELEASE_1_1);
const server = testApp(RELEASE_1_1);
const cases = [...apiCases(server), ...releasedCases(server)];
const official = officialOperations();

it('has a row for each operation of the official documents', () => {
  expect(official).toHaveLength(97);
  expect(official.filter((one) => rowOf(one, probe.operations) === undefined).map(({ id }) => id)).toEqual(
    [],
  );
});

it('describes each success that the official documents do, where the operation is offered', () => {
  const lacking = official.flatMap((one) => {
    const { responses = {}, errors = [] } = rowOf(one, probe.operations) ?? {};
    if (errors.includes(501)) return [];
    const own = Object.keys(responses).map(Number);
    return one.statuses
      .filter((status) => status < 300 && !own.includes(status))
      .map((status) => `${one.id} ${status}`);
  });
  expect(lacking).toEqual([]);
});

describe('each case of an operation is answered in 1.1.0', () => {
  const ids = [...new Set(cases.map(({ id }) => id))];
  it.each(ids)('%s, as the official documents have it', async (id) => {
    const row = probe.operations.find((operation) => operation.id === id);
    const document = official.find((one) => row !== undefined && rowOf(one, [row]) !== undefined);
    for (const { status, call } of cases.filter((one) => one.id === id)) {
      const made = await call();
      for (const prefer of made.body === undefined
        ? ['']
        : ['', 'return=identifier', 'return=representation']) {
        // A case is a request that succeeds or fails once: what it made is there when it is asked again.
        if (prefer !== '' && (status >= 300 || document === undefined)) continue;
        const request =
          prefer === '' ? made : { ...(await call()), headers: { ...made.headers, Prefer: prefer } };
        const answer = await probe.call(id, request);
        if (prefer === '')
          expect([status, answer.status]).toEqual([status, OTHERWISE[`${id} ${status}`] ?? status]);
        if (document !== undefined) expectOfficial(document, answer);
      }
    }
  });
});

function expectOfficial(document: (typeof official)[number], answer: request.Response): void {
  const { status, headers } = answer;
  if (`${document.id} ${status}` === OF_REVISIONS) return;
  const named = document.headersOf(status);
  const isDocumented =
    [...document.statuses, ...OF_ANY_OPERATION].includes(status) ||
    `${document.id} ${status}` === AS_COMPOSITION;
  expect({ id: document.id, status, isDocumented }).toEqual({ id: document.id, status, isDocumented: true });
  if (/json/.test(String(headers['content-type'])) && answer.text !== '')
    expect({ id: document.id, status, found: document.violations(status, answer.body) }).toEqual({
      id: document.id,
      status,
      found: [],
    });
  if (headers.etag !== undefined) expect(headers.etag).toMatch(/^W\/".+"$/);
  if (status >= 300) return;
  const isNew = status === 201 || (document.method === 'PUT' && named.includes('location'));
  expect([document.id, status, headers.location !== undefined]).toEqual([document.id, status, isNew]);
  if (named.includes('etag'))
    expect([document.id, status, headers.etag]).toEqual([document.id, status, expect.any(String)]);
}
