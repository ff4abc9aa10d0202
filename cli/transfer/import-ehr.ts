import { isJsonObject, type JsonObject, jsonObjectOf, type JsonValue } from '../../openehr/base/json.js';
import { isUuid, rootOfUid } from '../../openehr/base/object-version-id.js';
import { textAt, withoutAttributes } from '../../openehr/rm/access.js';
import { answerError, AnswerError, type ApiAnswer } from './api-client.js';
import { failure, type ImportContext, type Outcome } from './import-progress.js';
import type { ImportContent, ImportRecord } from './import-source.js';
import { readRm } from '../../openehr/rm/read.js';

/** EHRs memoized before the memory is emptied: asking again costs one request. */
const MAX_KNOWN_EHRS = 200_000;

/** What became of records before the rest is sent, and whether the EHR was made for that rest. */
interface Opened {
  readonly outcomes: Outcome[];
  readonly rest: readonly ImportRecord[];
  readonly isNew: boolean;
}

/**
 * Makes sure that the EHR exists; a new one gets the EHR_STATUS of its first record, if that is one, and is not made without one
 * that could not be read: nobody would find it by its subject. No EHR is made for records that need a template which the server does
 * not have: a million of them would leave as many empty EHRs.
 */
export async function createMissingEhr(
  context: ImportContext,
  ehrId: string,
  records: readonly ImportRecord[],
): Promise<Opened> {
  if (context.knownEhrs.has(ehrId)) return { outcomes: [], rest: records, isNew: false };
  const { outcomes, rest } = await hopeful(context, records);
  const [first] = rest;
  if (first === undefined) return { outcomes, rest, isNew: false };
  const status = first.content.kind === 'ehr_status' ? first.content.object : null;
  const isUsable = status !== null && status.is_modifiable !== false;
  const problem = context.refusedEhrs.has(ehrId)
    ? new AnswerError(409, 'its EHR could not be created: see the error of its first record')
    : await ensured(context, ehrId, isUsable ? status : null);
  if (problem instanceof AnswerError) {
    context.refusedEhrs.add(ehrId);
    const refused = rest.map(({ position }) => failure(position, problem));
    return { outcomes: [...outcomes, ...refused], rest: [], isNew: false };
  }
  noteKnown(context, ehrId);
  if (!isUsable || problem === 'existed') return { outcomes, rest, isNew: problem === 'created' };
  return {
    outcomes: [...outcomes, { position: first.position, result: 'imported' }],
    rest: rest.slice(1),
    isNew: true,
  };
}

/** The records from the first on that the server may take; those before it need templates that it does not have. */
async function hopeful(
  context: ImportContext,
  records: readonly ImportRecord[],
): Promise<Pick<Opened, 'outcomes' | 'rest'>> {
  const outcomes: Outcome[] = [];
  for (const [index, { position, content }] of records.entries()) {
    const problem = await context.missingTemplate(templateIdsOf(content));
    if (problem === null) return { outcomes, rest: records.slice(index) };
    outcomes.push(failure(position, problem));
  }
  return { outcomes, rest: [] };
}

function templateIdsOf(content: ImportContent): string[] {
  switch (content.kind) {
    case 'flat':
      return [content.templateId];
    case 'composition':
      return templateIdsIn(content.object);
    case 'contribution': {
      const { versions } = content.object;
      return Array.isArray(versions) ? versions.flatMap((version) => templateIdsIn(dataOf(version))) : [];
    }
    default:
      return [];
  }
}

function dataOf(version: JsonValue): JsonValue {
  return isJsonObject(version) ? (version.data ?? null) : null;
}

function templateIdsIn(value: JsonValue): string[] {
  const id = isJsonObject(value) ? textAt(value, 'archetype_details', 'template_id', 'value') : undefined;
  return id === undefined || id === '' ? [] : [id];
}

/** Notes that the EHR exists. */
export function noteKnown({ knownEhrs }: ImportContext, ehrId: string): void {
  if (knownEhrs.size >= MAX_KNOWN_EHRS) knownEhrs.clear();
  knownEhrs.add(ehrId);
}

/** Tries to create it first: one request for the many that are new. */
async function ensured(
  context: ImportContext,
  ehrId: string,
  status: JsonObject | null,
): Promise<'created' | 'existed' | AnswerError> {
  const path = `/ehr/${encodeURIComponent(ehrId)}`;
  const isIncomplete = status === null && context.isStatusLost(ehrId);
  const created = isIncomplete
    ? null
    : await context.client.send('PUT', path, {
        ...(status !== null && { body: JSON.stringify(status) }),
        headers: { Prefer: 'return=representation' },
      });
  if (created !== null) refuseUser(created);
  if (created?.status === 201) return learnt(context, created, 'created');
  const present = await context.client.send('GET', path);
  refuseUser(present);
  if (present.status === 200) return learnt(context, present, 'existed');
  return created === null ? new AnswerError(409, LOST_STATUS) : answerError(created.status, created.text);
}

const LOST_STATUS =
  'its EHR_STATUS could not be read, and the server has no such EHR: it is not made without one';

function learnt<T>(context: ImportContext, { text }: ApiAnswer, outcome: T): T {
  const systemId = textAt(jsonObjectOf(text), 'system_id', 'value');
  if (systemId !== undefined) context.setSystemId(systemId);
  return outcome;
}

function refuseUser({ status, text }: ApiAnswer): void {
  if (status === 401 || status === 403) throw answerError(status, text);
}

/** Makes the EHR_STATUS of an existing EHR the given one. */
export async function importStatus(
  { client }: ImportContext,
  { ehrId, position }: ImportRecord,
  status: JsonObject,
): Promise<Outcome> {
  const path = `/ehr/${encodeURIComponent(ehrId)}/ehr_status`;
  const present = await client.send('GET', path);
  if (present.status === 200 && isSameContent(status, present.text, 'EHR_STATUS'))
    return { position, result: 'unchanged' };
  const answer = await client.send('PUT', path, {
    body: JSON.stringify(withoutAttributes(status, ['uid'])),
    headers: { 'If-Match': `"${present.etag}"` },
  });
  return outcomeOf(position, answer);
}

/** Makes the directory of an existing EHR the given one: creates or updates it. */
export async function importDirectory(
  context: ImportContext,
  { ehrId, position }: ImportRecord,
  directory: JsonObject,
): Promise<Outcome> {
  const { client } = context;
  const path = `/ehr/${encodeURIComponent(ehrId)}/directory`;
  const present = await client.send('GET', path);
  if (present.status === 200) {
    if (isSameContent(directory, present.text, 'FOLDER')) return { position, result: 'unchanged' };
    const content = withoutAttributes(directory, ['uid']);
    const headers = { 'If-Match': `"${present.etag}"` };
    return outcomeOf(position, await client.send('PUT', path, { body: JSON.stringify(content), headers }));
  }
  const answer = await client.send('POST', path, {
    body: JSON.stringify(withOwnUid(context, directory)),
    headers: { 'Idempotency-Key': `import ${context.importId} ${position}` },
  });
  return outcomeOf(position, answer);
}

function withOwnUid(context: ImportContext, directory: JsonObject): JsonObject {
  const content = withoutAttributes(directory, ['uid']);
  const versionedObjectUid = rootOfUid(textAt(directory, 'uid', 'value') ?? '');
  if (!context.keepsIds || !isUuid(versionedObjectUid)) return content;
  return {
    ...content,
    uid: { _type: 'OBJECT_VERSION_ID', value: `${versionedObjectUid}::${context.systemId()}::1` },
  };
}

function outcomeOf(position: number, { status, text }: ApiAnswer): Outcome {
  return status === 200 || status === 201 || status === 204
    ? { position, result: 'imported' }
    : failure(position, answerError(status, text));
}

/** Whether the stored object (JSON text) has the content of the given one; uid and order of attributes apart. */
export function isSameContent(given: JsonObject, storedText: string, type: string): boolean {
  const stored: unknown = JSON.parse(storedText);
  return isJsonObject(stored) && contentText(given, type) === contentText(stored, type);
}

function contentText(value: JsonObject, type: string): string {
  const { object } = readRm(value, type);
  const content = Object.fromEntries(Object.entries(object ?? value).filter(([name]) => name !== 'uid'));
  return JSON.stringify(sorted(content));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, child]) => [name, sorted(child)]));
}
