// The client of openapi-generator's typescript-fetch, which is generated beside this file.
import { readFileSync } from 'node:fs';
import {
  COMPOSITIONApi,
  COMPOSITIONFromJSON,
  Configuration,
  EHRApi,
  ModelErrorFromJSON,
  QUERYApi,
  ResponseError,
  STOREDQUERYApi,
  TEMPLATEApi,
} from './client/index.ts';

const { CDR = '', OPT = '', TEMPLATE = '' } = process.env;
const configuration = new Configuration({ basePath: CDR });
const compositions = new COMPOSITIONApi(configuration);
const queries = new QUERYApi(configuration);
const templates = new TEMPLATEApi(configuration);
const uidOf = ({ raw }: { readonly raw: Response }): string =>
  raw.headers.get('ETag')?.replaceAll('"', '') ?? '';

async function refusal(call: Promise<unknown>): Promise<Response> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ResponseError) return error.response;
    throw error;
  }
  throw new Error('not refused');
}

const upload = await templates.templateAdl14UploadRaw({ body: readFileSync(OPT, 'utf8') }).then(
  ({ raw }) => raw,
  (error: unknown) => refusal(Promise.reject(error)),
);
console.log('template', upload.status);

const ehrId = uidOf(await new EHRApi(configuration).ehrCreateRaw({}));
console.log('ehr', ehrId);

const composition = await templates.templateAdl14Example({ templateId: TEMPLATE });
const minimal = await compositions.compositionCreateRaw({ ehrId, cOMPOSITION: composition });
console.log('minimal', uidOf(minimal));

const whole = await compositions.compositionCreateRaw({
  ehrId,
  cOMPOSITION: composition,
  prefer: 'return=representation',
});
console.log('whole', COMPOSITIONFromJSON(await whole.raw.json()).uid?.value);

const [uidBasedId = ''] = uidOf(minimal).split('::');
const found = await compositions.compositionGet({ ehrId, uidBasedId });
if (!found) throw new Error('nothing found');
console.log('read', found._type, found.archetype_details?.template_id?.value);

const corrected = await compositions.compositionUpdateRaw({
  ehrId,
  uidBasedId,
  cOMPOSITION: { ...found, territory: { ...found.territory, code_string: 'GB' } },
  ifMatch: `"${uidOf(minimal)}"`,
});
console.log('corrected', uidOf(corrected));

const q = `SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='${ehrId}'] CONTAINS COMPOSITION c`;
const result = await queries.queryExecuteAdhocPost({ queryRequest: { q: `${q} LIMIT 5` } });
console.log('rows', result.rows.length, result.columns[0]?.name);

const qualifiedQueryName = 'org.example::compositions_of_typescript_fetch';
await new STOREDQUERYApi(configuration).queryStoreVersion({ qualifiedQueryName, version: '1.0.0', body: q });
console.log('stored', (await queries.queryExecuteStored({ qualifiedQueryName })).rows.length);

const wrong = { ...composition, language: { ...composition.language, code_string: 'xx' } };
const answer = await refusal(compositions.compositionCreate({ ehrId, cOMPOSITION: wrong }));
const error = ModelErrorFromJSON(await answer.json());
console.log('error', answer.status, error.code, (error.violations ?? []).length > 0);
