// The client of openapi-typescript and openapi-fetch; `api.ts` is generated beside this file.
import { readFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

type Schemas = components['schemas'];
const { CDR = '', OPT = '', TEMPLATE = '' } = process.env;
const api = createClient<paths>({ baseUrl: CDR });
const uidOf = (response: Response): string => response.headers.get('ETag')?.replaceAll('"', '') ?? '';

const element: Schemas['ELEMENT'] = {
  _type: 'ELEMENT',
  archetype_node_id: 'at0004',
  name: { _type: 'DV_TEXT', value: 'Systolic' },
  value: { _type: 'DV_QUANTITY', magnitude: 120, units: 'mm[Hg]' },
};
// @ts-expect-error: a DV_QUANTITY has units
element.value = { _type: 'DV_QUANTITY', magnitude: 120 };

const upload = await api.POST('/rest/openehr/v1/definition/template/adl1.4', {
  body: readFileSync(OPT, 'utf8'),
  bodySerializer: (text) => text,
  headers: { 'Content-Type': 'application/xml' },
  parseAs: 'text',
});
console.log('template', upload.response.status);

const created = await api.POST('/rest/openehr/v1/ehr', {});
const ehr_id = uidOf(created.response);
console.log('ehr', ehr_id);

const { data: example } = await api.GET('/rest/openehr/v1/definition/template/adl1.4/{template_id}/example', {
  params: { path: { template_id: TEMPLATE } },
});
const composition = example as Schemas['COMPOSITION'];
const at = { path: { ehr_id } };
const minimal = await api.POST('/rest/openehr/v1/ehr/{ehr_id}/composition', {
  params: at,
  body: composition,
});
console.log('minimal', uidOf(minimal.response));

const whole = await api.POST('/rest/openehr/v1/ehr/{ehr_id}/composition', {
  params: { ...at, header: { Prefer: 'return=representation' } },
  body: composition,
});
const stored = whole.data as Schemas['COMPOSITION'];
console.log('whole', stored.uid?.value);

const [uid_based_id = ''] = uidOf(minimal.response).split('::');
const read = await api.GET('/rest/openehr/v1/ehr/{ehr_id}/composition/{uid_based_id}', {
  params: { path: { ehr_id, uid_based_id } },
});
const found = read.data as Schemas['COMPOSITION'];
console.log('read', found._type, found.archetype_details?.template_id?.value);

const corrected = await api.PUT('/rest/openehr/v1/ehr/{ehr_id}/composition/{uid_based_id}', {
  params: { path: { ehr_id, uid_based_id }, header: { 'If-Match': `"${uidOf(minimal.response)}"` } },
  body: { ...composition, composer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' } },
});
console.log('corrected', uidOf(corrected.response));

const q = `SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='${ehr_id}'] CONTAINS COMPOSITION c`;
const rows = await api.POST('/rest/openehr/v1/query/aql', { body: { q: `${q} LIMIT 5` } });
const result = rows.data as Schemas['RESULT_SET'];
console.log('rows', result.rows.length, result.columns[0]?.name);

const name = 'org.example::compositions';
await api.PUT('/rest/openehr/v1/definition/query/{qualified_query_name}/{version}', {
  params: { path: { qualified_query_name: name, version: '1.0.0' } },
  body: q,
  bodySerializer: (text) => text,
  headers: { 'Content-Type': 'text/plain' },
  parseAs: 'text',
});
const again = await api.GET('/rest/openehr/v1/query/{qualified_query_name}', {
  params: { path: { qualified_query_name: name } },
});
console.log('stored', (again.data as Schemas['RESULT_SET']).rows.length);

const wrong = await api.POST('/rest/openehr/v1/ehr/{ehr_id}/composition', {
  params: at,
  body: { ...composition, language: { ...composition.language, code_string: 'xx' } },
});
const error = wrong.error as Schemas['Error'];
console.log('error', wrong.response.status, error.code, (error.violations ?? []).length > 0);
