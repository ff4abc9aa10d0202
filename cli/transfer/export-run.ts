import { hash } from 'node:crypto';
import { isUuid } from '../../openehr/base/object-version-id.js';
import { isJsonObject, jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import { textAt } from '../../openehr/rm/access.js';
import { UuidSet } from './uuid-set.js';
import { answerError, type ApiAnswer, type ApiClient } from './api-client.js';

/** COMPOSITIONs of one EHR that are fetched at once. */
const AT_ONCE = 8;
/** What lenient validation left out is exported too, so that an import with it leaves it out again. */
const AS_GIVEN = { headers: { Prefer: 'validation=lenient' } } as const;

/** The latest versions of one moment: those are read, whatever is committed meanwhile. */
const LISTED = '?include=versions';

interface EhrAnswer {
  readonly versions?: readonly { readonly type: string; readonly id: { readonly value: string } }[];
}

/** Ids of EHRs, which nearly always are UUIDs. */
class EhrIds {
  readonly #uuids = new UuidSet();
  readonly #others = new Set<string>();

  has(ehrId: string): boolean {
    return (isUuid(ehrId) ? this.#uuids : this.#others).has(ehrId);
  }

  add(ehrId: string): void {
    (isUuid(ehrId) ? this.#uuids : this.#others).add(ehrId);
  }
}

async function newestRevision(client: ApiClient, templateId: string): Promise<string> {
  const path = `/definition/template/adl1.4/${encodeURIComponent(templateId)}`;
  const { status, text } = await client.send('GET', path, { accept: 'application/xml' });
  if (status !== 200) throw answerError(status, text);
  return hash('sha256', text);
}

/** What one export has written, and what it listed and did not find. Changes of the record go on beside it. */
export class ExportRun {
  /** Object ids of the COMPOSITIONs written, or found deleted: merges bring them to EHRs whose turn is later. */
  readonly compositions = new UuidSet();
  /** EHRs written under their own id. */
  readonly ehrs = new EhrIds();
  /** EHRs that were listed, and erased before or while they were written. */
  readonly erasedEhrs = new Set<string>();
  readonly #lost = new Map<string, string>();
  /** Digests of the newest revisions of templates, by id. */
  readonly #newest = new Map<string, Promise<string>>();

  /** The digest of the revision by which a COMPOSITION was judged; null: none is noted, or it is the newest of its template. */
  async earlierRevision(
    client: ApiClient,
    composition: JsonObject,
    digest: string | null,
  ): Promise<string | null> {
    if (digest === null) return null;
    const id = textAt(composition, 'archetype_details', 'template_id', 'value') ?? '';
    const newest = this.#newest.get(id) ?? newestRevision(client, id);
    this.#newest.set(id, newest);
    return (await newest) === digest ? null : digest;
  }

  /** An EHR listed this COMPOSITION, where it is no more: its turn may come with another EHR. */
  lose(versionedObjectUid: string, ehrId: string): void {
    this.#lost.set(versionedObjectUid, ehrId);
  }

  /** Those that no other EHR has brought since, with the EHR that listed them. */
  get lost(): [versionedObjectUid: string, ehrId: string][] {
    return [...this.#lost].filter(([id]) => !this.compositions.has(id));
  }
}

/** Where the EHR under way is: another id once it was merged. */
interface Place {
  ehrId: string;
  readonly listedBy: string;
}

/**
 * The lines of one EHR, each with its line end: EHR_STATUS, directory, every COMPOSITION that is not deleted, in
 * the order of their creation; the latest versions, all of one moment. An EHR_STATUS that forbids changes comes last, so that the
 * import can write what stands before it. An EHR that is merged on the way goes on from its target, under its own id; of
 * one that was merged before its turn come the COMPOSITIONs of its target that no other EHR has brought. `run` gets
 * what was written, so that nothing is written twice, and what was listed and is not there any more.
 * @throws AnswerError on any failure
 */
export async function* exportedLines(
  client: ApiClient,
  ehrId: string,
  run: ExportRun = new ExportRun(),
): AsyncGenerator<string> {
  const { found, status, directory, successor } = await ehrAnswers(client, ehrId);
  if (successor !== null) {
    yield* mergedLines(client, successor, run);
    return;
  }
  const answers = [found, status];
  if (answers.some((answer) => answer.status === 404)) {
    run.erasedEhrs.add(ehrId);
    return;
  }
  if (directory !== null && directory.status !== 404) answers.push(directory);
  const failed = answers.find((answer) => answer.status !== 200);
  if (failed !== undefined) throw answerError(failed.status, failed.text);
  run.ehrs.add(ehrId);
  const statusLine = lineOf(ehrId, `"ehr_status":${status.text}`);
  const isModifiable = jsonObjectOf(status.text).is_modifiable !== false;
  if (isModifiable) yield statusLine;
  if (directory?.status === 200) yield lineOf(ehrId, `"directory":${directory.text}`);
  yield* compositionLines(client, { ehrId, listed: uidsOf(found, 'COMPOSITION') }, run);
  if (!isModifiable) yield statusLine;
}

/** Of an EHR what stands before its COMPOSITIONs; `successor`: it was merged away before all was read. */
async function ehrAnswers(client: ApiClient, ehrId: string) {
  const get = (below: string): Promise<ApiAnswer> => client.send('GET', `${pathOf(ehrId)}${below}`, AS_GIVEN);
  const found = await get(LISTED);
  const [statusUid = ''] = uidsOf(found, 'EHR_STATUS');
  const [directoryUid] = uidsOf(found, 'FOLDER');
  const status = found.status === 200 ? await get(`/ehr_status/${statusUid}`) : found;
  const directory = directoryUid === undefined ? null : await get(`/directory/${directoryUid}`);
  const successor = found.successor ?? status.successor ?? directory?.successor ?? null;
  return { found, status, directory, successor };
}

/** Whether an EHR is gone, and not merged away. @throws AnswerError on any failure */
export async function isErased(client: ApiClient, ehrId: string): Promise<boolean> {
  const { status, successor } = await client.send('GET', pathOf(ehrId));
  return status === 404 && successor === null;
}

/** The line of a COMPOSITION that was moved to an EHR whose turn was over; null when it is not there either. */
export async function movedLine(
  client: ApiClient,
  ehrId: string,
  { versionedObjectUid, run }: { readonly versionedObjectUid: string; readonly run: ExportRun },
): Promise<string | null> {
  const answer = await versionAnswer(client, { ehrId, listedBy: ehrId }, versionedObjectUid);
  return answer === null ? null : lineOfVersion(client, ehrId, { answer, run });
}

/** What a merge brought to an EHR, whose EHR_STATUS and directory come, or came, when it is its own turn. */
async function* mergedLines(client: ApiClient, ehrId: string, run: ExportRun): AsyncGenerator<string> {
  for (let successor = ehrId, moves = 0; moves < MAX_MOVES; moves += 1) {
    const found = await client.send('GET', `${pathOf(successor)}${LISTED}`, AS_GIVEN);
    if (found.status === 200) {
      yield* compositionLines(client, { ehrId: successor, listed: uidsOf(found, 'COMPOSITION') }, run);
      return;
    }
    if (found.status !== 404) throw answerError(found.status, found.text);
    if (found.successor === null) {
      run.erasedEhrs.add(successor);
      return;
    }
    successor = found.successor;
  }
  throw new Error(`EHR ${ehrId} is merged again and again; export again`);
}

function uidsOf({ status, text }: ApiAnswer, type: string): string[] {
  if (status !== 200) return [];
  const { versions = [] } = JSON.parse(text) as EhrAnswer;
  return versions.filter((version) => version.type === type).map(({ id }) => id.value);
}

/** Lines of the COMPOSITIONs that an EHR lists, without those exported before. */
async function* compositionLines(
  client: ApiClient,
  { ehrId, listed }: { readonly ehrId: string; readonly listed: readonly string[] },
  run: ExportRun,
): AsyncGenerator<string> {
  const place: Place = { ehrId, listedBy: ehrId };
  const waiting = listed.filter((uid) => !run.compositions.has(objectOf(uid)));
  for (let start = 0; start < waiting.length; start += AT_ONCE) {
    const group = waiting.slice(start, start + AT_ONCE);
    const answers = await Promise.all(group.map((uid) => versionAnswer(client, place, uid)));
    for (const [index, uid] of group.entries()) {
      const id = objectOf(uid);
      const answer = answers[index] ?? null;
      if (answer === null) {
        run.lose(id, ehrId);
        continue;
      }
      const line = await lineOfVersion(client, ehrId, { answer, run });
      if (line !== null) yield line;
      run.compositions.add(id);
    }
  }
}

function pathOf(ehrId: string): string {
  return `/ehr/${encodeURIComponent(ehrId)}`;
}

/** Null when it was deleted logically meanwhile. */
async function lineOfVersion(
  client: ApiClient,
  ehrId: string,
  { answer, run }: { readonly answer: ApiAnswer; readonly run: ExportRun },
): Promise<string | null> {
  const version = jsonObjectOf(answer.text);
  const { data } = version;
  if (!isJsonObject(data)) return null;
  const state = textAt(version, 'lifecycle_state', 'defining_code', 'code_string') ?? LIFECYCLE.complete;
  const lifecycle = state === LIFECYCLE.complete ? '' : `,"lifecycle_state":${JSON.stringify(state)}`;
  const revision = await run.earlierRevision(client, data, answer.revision);
  const judgedBy = revision === null ? '' : `,"template_revision":${JSON.stringify(revision)}`;
  return lineOf(
    ehrId,
    `"composition":${JSON.stringify(data)}${lifecycle}${judgedBy}${signaturesOf(version)}`,
  );
}

/** The ATTESTATIONs of a version, which say who answers for its content; the audits of commits are the server's own. */
function signaturesOf({ commit_audit: audit, attestations = [] }: JsonObject): string {
  const isSigned = isJsonObject(audit) && audit._type === 'ATTESTATION';
  const commit = isSigned ? `,"commit_audit":${JSON.stringify(audit)}` : '';
  const isAttested = Array.isArray(attestations) && attestations.length > 0;
  return isAttested ? `${commit},"attestations":${JSON.stringify(attestations)}` : commit;
}

/** How often an EHR may be merged, or taken back, while one COMPOSITION is looked for. */
const MAX_MOVES = 5;

/** Object id of a version. */
function objectOf(uid: string): string {
  return uid.split('::', 1)[0] ?? uid;
}

/**
 * The version of a COMPOSITION that the EHR listed, or the latest of an object id, wherever merges took it meanwhile; null when it
 * is not there. @throws AnswerError on any other failure
 */
async function versionAnswer(client: ApiClient, place: Place, uid: string): Promise<ApiAnswer | null> {
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const { ehrId } = place;
    const id = objectOf(uid);
    const path = `${pathOf(ehrId)}/versioned_composition/${id}/version${id === uid ? '' : `/${uid}`}`;
    const answer = await client.send('GET', path, AS_GIVEN);
    if (answer.status === 200) return answer;
    if (answer.status !== 404) throw answerError(answer.status, answer.text);
    if (answer.successor !== null) place.ehrId = answer.successor;
    else if (ehrId !== place.listedBy) place.ehrId = place.listedBy;
    else break;
  }
  return null;
}

function lineOf(ehrId: string, members: string): string {
  return `{"ehr_id":${JSON.stringify(ehrId)},${members}}\n`;
}
