import { createHash } from 'node:crypto';
import { violationText } from '../../openehr/base/violation.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { isUuid, rootOfUid } from '../../openehr/base/object-version-id.js';
import { textAt } from '../../openehr/rm/access.js';
import { LIFECYCLE, lifecycleStateOf } from '../../change/commit/codes.js';
import { errorAnswer } from '../../routes/http/failure/error-status.js';
import { answerError, AnswerError, type ApiAnswer } from './api-client.js';
import { contributionOf, type Item } from './import-commit.js';
import { createMissingEhr, importDirectory, importStatus, isSameContent } from './import-ehr.js';
import { failure, type ImportContext, type Outcome } from './import-progress.js';
import type { ImportContent, ImportRecord } from './import-source.js';

/** Characters of a CONTRIBUTION or transaction; larger ones would come near the limit of a body. */
export const MAX_BATCH_LENGTH = 4 * 1024 * 1024;
const CREATED = 201;

/** Imports records of one EHR in their order, COMPOSITIONs as CONTRIBUTIONs of several. @throws AnswerError when the server is not there or refuses the user */
export async function importRecords(
  context: ImportContext,
  ehrId: string,
  records: readonly ImportRecord[],
): Promise<Outcome[]> {
  const { outcomes, rest, isNew } = await createMissingEhr(context, ehrId, records);
  let batch: Item[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) outcomes.push(...(await sendBatch(context, ehrId, batch)));
    batch = [];
    length = 0;
  };
  for (const record of rest) {
    const { content } = record;
    if (content.kind === 'composition' || content.kind === 'flat') {
      const item = await itemOf(context, record, content);
      if ('status' in item) {
        outcomes.push(item);
        continue;
      }
      if (batch[0] !== undefined && batch[0].pin !== item.pin) await flush();
      if (batch.length >= context.batchSize || length + item.length > MAX_BATCH_LENGTH) await flush();
      batch.push(item);
      length += item.length;
      continue;
    }
    await flush();
    outcomes.push(await importOther(context, record, content));
  }
  await flush();
  if (isNew && outcomes.every(({ result }) => result === 'failed')) context.noteEmpty(ehrId);
  return outcomes;
}

async function importOther(
  context: ImportContext,
  record: ImportRecord,
  content: ImportContent,
): Promise<Outcome> {
  if (content.kind === 'ehr_status') return importStatus(context, record, content.object);
  if (content.kind === 'directory') return importDirectory(context, record, content.object);
  const answer = await post(context, `/ehr/${encodeURIComponent(record.ehrId)}/contribution`, {
    body: JSON.stringify(content.object),
    key: `${record.position}`,
  });
  return answer.status === CREATED
    ? { position: record.position, result: 'imported' }
    : failure(record.position, answerError(answer.status, answer.text));
}

/** Makes canonical JSON of FLAT and settles the object id. A failure instead when that cannot be done. */
export async function itemOf(
  context: ImportContext,
  { position, length }: ImportRecord,
  content: Extract<ImportContent, { kind: 'composition' | 'flat' }>,
): Promise<Item | Extract<Outcome, { status: number }>> {
  try {
    const canonical =
      content.kind === 'flat' ? await context.fromFlat(content.object, content.templateId) : content.object;
    const given = rootOfUid(textAt(canonical, 'uid', 'value') ?? '');
    const isKept = context.keepsIds && isUuid(given);
    const versionedObjectUid = isKept
      ? given.toLowerCase()
      : derivedVersionedObjectUid(context.importId, position);
    const uid = { _type: 'OBJECT_VERSION_ID', value: `${versionedObjectUid}::${context.systemId()}::1` };
    const object = { ...canonical, uid };
    const lifecycleState = lifecycleStateOf({
      code: content.lifecycleState ?? LIFECYCLE.complete,
      rubric: undefined,
    });
    const { signed, revision } = content.kind === 'composition' ? content : { signed: null, revision: null };
    const pin = revision === null ? null : pinOf(canonical, revision);
    return { position, versionedObjectUid, object, length, lifecycleState, signed, pin };
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const { status } = errorAnswer(error);
    return failure(
      position,
      new AnswerError(status, error.message, error.details.violations?.map(violationText)),
    );
  }
}

/** @throws CdrError `invalid` for a template id that no header can hold */
function pinOf(composition: JsonObject, revision: string): string {
  const id = textAt(composition, 'archetype_details', 'template_id', 'value') ?? '';
  const pin = `${id};revision="${revision}"`;
  if (/[^\x20-\x7e]/.test(pin))
    throw new CdrError(
      'invalid',
      'a revision can be named of templates only whose id is of ASCII characters',
    );
  return pin;
}

function headersOf({ pin }: Item): Readonly<Record<string, string>> {
  return pin === null ? {} : { 'openEHR-TEMPLATE_ID': pin };
}

/** A UUID that the same record of the same import always gets, so that no repetition makes it twice. */
function derivedVersionedObjectUid(importId: string, position: number): string {
  const digest = createHash('sha256').update(`${importId} ${position}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** As one CONTRIBUTION; when it is refused one by one, so that only the bad ones fail. */
async function sendBatch(context: ImportContext, ehrId: string, batch: readonly Item[]): Promise<Outcome[]> {
  const [first] = batch;
  let isTaken = false;
  if (first !== undefined && batch.length > 1) {
    const answer = await post(context, `/ehr/${encodeURIComponent(ehrId)}/contribution`, {
      body: JSON.stringify(contributionOf(batch)),
      key: `${first.position}+${batch.length}`,
      headers: headersOf(first),
    });
    if (answer.status === CREATED) return batch.map(({ position }) => ({ position, result: 'imported' }));
    isTaken = isConflict(answer);
  }
  const outcomes: Outcome[] = [];
  for (const item of batch) {
    const isThere = isTaken && (await isPresent(context, ehrId, item));
    outcomes.push(
      isThere ? { position: item.position, result: 'unchanged' } : await sendOne(context, ehrId, item),
    );
  }
  return outcomes;
}

function isConflict({ status }: ApiAnswer): boolean {
  return status === 409 || status === 412;
}

/** Whether the EHR has the object with this content already: from an earlier run, or imported before. */
async function isPresent({ client }: ImportContext, ehrId: string, item: Item): Promise<boolean> {
  const path = `/ehr/${encodeURIComponent(ehrId)}/composition/${item.versionedObjectUid}`;
  const { status, text } = await client.send('GET', path);
  return status === 200 && isSameContent(item.object, text, 'COMPOSITION');
}

async function sendOne(context: ImportContext, ehrId: string, item: Item): Promise<Outcome> {
  const { position, lifecycleState, signed } = item;
  const path = `/ehr/${encodeURIComponent(ehrId)}`;
  const key = `${position}`;
  // Only a CONTRIBUTION says who signed.
  const answer =
    signed === null
      ? await post(context, `${path}/composition`, {
          body: JSON.stringify(item.object),
          key,
          headers: {
            'openEHR-VERSION': `lifecycle_state.code_string="${lifecycleState}"`,
            ...headersOf(item),
          },
        })
      : await post(context, `${path}/contribution`, {
          body: JSON.stringify(contributionOf([item])),
          key,
          headers: headersOf(item),
        });
  if (answer.status === CREATED) return { position, result: 'imported' };
  if (isConflict(answer) && (await isPresent(context, ehrId, item))) return { position, result: 'unchanged' };
  return failure(position, answerError(answer.status, answer.text));
}

/** Once only, also over a crash of this process. @throws AnswerError when the user may not write at all */
async function post(
  context: ImportContext,
  path: string,
  request: {
    readonly body: string;
    readonly key: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<ApiAnswer> {
  const answer = await context.client.send('POST', path, {
    body: request.body,
    headers: { ...request.headers, 'Idempotency-Key': `import ${context.importId} ${request.key}` },
  });
  if (answer.status === 401 || answer.status === 403) throw answerError(answer.status, answer.text);
  return answer;
}
