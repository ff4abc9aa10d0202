import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from '@jest/globals';
import request from 'supertest';
import { CdrError } from '../../../openehr/base/errors.js';
import { testApp } from '../../support/app.js';
import type { AqlCase } from '../../support/aql/cases/aql-case.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { describeCases } from '../../support/aql/cases/run-cases.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP } from '../../support/hilltop/hilltop.js';
import { V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

/**
 * Every case of the corpus as users ask it: over HTTP, queries recorded, with the warnings of the answer, and explained
 * beside it. What works as a pipeline alone is no answer yet.
 */
useDatabase();
beforeAll(() => loadReferenceData(HILLTOP));

/** What the terminology server answers to whatever it is asked; null: it fails. */
let terminology: object | null = null;
const fhir = createServer((_, response) => {
  response.statusCode = terminology === null ? 500 : 200;
  response.end(JSON.stringify(terminology ?? {}));
}).listen(0, '127.0.0.1');
afterAll(() => {
  fhir.close();
});

const apps = new Map<string, ReturnType<typeof testApp>>();

/** The server with the settings that a case is about. */
function appOf({ options = {} }: AqlCase): ReturnType<typeof testApp> {
  const { subsumption = false, maxFetch = null, defaultFetch = null } = options;
  const hasTerminology = options.terminology !== undefined;
  const key = JSON.stringify({ subsumption, maxFetch, defaultFetch, terminology: options.terminology });
  const known = apps.get(key);
  if (known !== undefined) return known;
  const settings = testSettings();
  // What a server answered is remembered: each set of answers is one of another server.
  const { port } = fhir.address() as AddressInfo;
  const serverUrl = hasTerminology ? `http://127.0.0.1:${port}/fhir/${apps.size}` : null;
  const app = testApp({
    aql: { ...settings.aql, subsumption, maxFetch, defaultFetch },
    terminology: { ...settings.terminology, serverUrl },
    auditReads: true,
  });
  apps.set(key, app);
  return app;
}

/** What FHIR says of the one question of a case. */
function fhirAnswer({ options = {} }: AqlCase): object | null {
  const [answer] = Object.values(options.terminology ?? {});
  if (answer?.kind === 'codes')
    return { resourceType: 'ValueSet', expansion: { contains: answer.codes.map((code) => ({ code })) } };
  if (answer?.kind === 'boolean')
    return { resourceType: 'Parameters', parameter: [{ name: 'result', valueBoolean: answer.value }] };
  return null;
}

/** The request of a case: GET where its parameters are texts. */
function asked(aqlCase: AqlCase): request.Test {
  const { aql, parameters, textParameters, options = {} } = aqlCase;
  const { fetch, offset, ehrId, asOf } = options;
  const rest = { fetch, offset, ehr_id: ehrId, as_of: asOf };
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const app = request(appOf(aqlCase));
  if (textParameters === undefined)
    return app.post(`${V1}/query/aql`).send({ q: aql, query_parameters: parameters, ...given });
  return app.get(`${V1}/query/aql`).query({ q: aql, ...textParameters, ...given });
}

describeCases(aqlCases, async (aqlCase) => {
  terminology = fhirAnswer(aqlCase);
  const { status, body } = await asked(aqlCase);
  const { code, message } = body as Json;
  if (status !== 200) {
    expect({ status, message }).not.toMatchObject({ status: 500 });
    throw new CdrError(code as CdrError['code'], String(message));
  }
  if (aqlCase.textParameters === undefined) {
    const { aql: q, parameters, options: { ehrId, asOf } = {} } = aqlCase;
    const explained = await request(appOf(aqlCase))
      .post(`${V1}/query/aql/explain`)
      .send({ q, query_parameters: parameters, ehr_id: ehrId, as_of: asOf });
    expect({ status: explained.status, message: explained.body.message }).toMatchObject({ status: 200 });
  }
  const { columns, rows } = body as { columns: { name: string; path?: string }[]; rows: [] };
  return { columns: columns.map(({ name, path = null }) => ({ name, path })), rows };
});
