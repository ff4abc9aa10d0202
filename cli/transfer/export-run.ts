import { jsonObjectOf } from '../../openehr/base/json.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import { textAt } from '../../openehr/rm/access.js';
import { UuidSet } from './uuid-set.js';
import { answerError, type ApiAnswer, type ApiClient } from './api-client.js';

/** COMPOSITIONs of one EHR that are fetched at once. */
const AT_ONCE = 8;
/** What lenient validation left out is exported too, so that an import with it leaves it out again. */
const AS_GIVEN = { headers: { Prefer: 'validation=lenient' } } as const;

interface EhrAnswer {
  readonly compositions?: readonly { readonly id: { readonly value: string } }[];
}

/** Object ids of the COMPOSITIONs that one run has exported: merges bring them to EHRs whose turn is later. */
export type Exported = UuidSet;

/** Where the EHR under way is: another id once it was merged. */
interface Place {
  ehrId: string;
  readonly listedBy: string;
}

/**
 * The lines of one EHR, each with its line end: EHR_STATUS, directory, every COMPOSITION that is not deleted, in
 * the order of their creation; the latest versions. An EHR_STATUS that forbids changes comes last, so that the
 * import can write what stands before it. An EHR that is merged on the way goes on from its target, under its own id; of
 * one that was merged before its turn come the COMPOSITIONs of its target that no other EHR has brought. `exported` gets
 * what was written, so that nothing is written twice.
 * @throws AnswerError when the EHR does not exist; Error when a COMPOSITION that it listed is nowhere
 */
export async function* exportedLines(
  client: ApiClient,
  ehrId: string,
  exported: Exported = new UuidSet(),
): AsyncGenerator<string> {
  const path = pathOf(ehrId);
  const found = await client.send('GET', `${path}?include=compositions`, AS_GIVEN);
  if (found.successor !== null) {
    yield* mergedLines(client, found.successor, exported);
    return;
  }
  if (found.status !== 200) throw answerError(found.status, found.text);
  const status = await required(client, `${path}/ehr_status`);
  const statusLine = lineOf(ehrId, `"ehr_status":${status}`);
  const isModifiable = jsonObjectOf(status).is_modifiable !== false;
  if (isModifiable) yield statusLine;
  const directory = await client.send('GET', `${path}/directory`, AS_GIVEN);
  if (directory.status === 200) yield lineOf(ehrId, `"directory":${directory.text}`);
  else if (isLost(directory)) throw answerError(directory.status, directory.text);
  yield* compositionLines(client, { ehrId, listed: listedBy(found) }, exported);
  if (!isModifiable) yield statusLine;
}

/** What a merge brought to an EHR, whose EHR_STATUS and directory come, or came, when it is its own turn. */
async function* mergedLines(client: ApiClient, ehrId: string, exported: Exported): AsyncGenerator<string> {
  for (let successor = ehrId, moves = 0; moves < MAX_MOVES; moves += 1) {
    const found = await client.send('GET', `${pathOf(successor)}?include=compositions`, AS_GIVEN);
    if (found.status === 200) {
      yield* compositionLines(client, { ehrId: successor, listed: listedBy(found) }, exported);
      return;
    }
    if (found.successor === null) throw answerError(found.status, found.text);
    successor = found.successor;
  }
  throw new Error(`EHR ${ehrId} is merged again and again; export again`);
}

function listedBy({ text }: ApiAnswer): string[] {
  const { compositions = [] } = JSON.parse(text) as EhrAnswer;
  return compositions.map(({ id }) => id.value);
}

/** Lines of the COMPOSITIONs that an EHR lists, without those exported before. */
async function* compositionLines(
  client: ApiClient,
  { ehrId, listed }: { readonly ehrId: string; readonly listed: readonly string[] },
  exported: Exported,
): AsyncGenerator<string> {
  const place: Place = { ehrId, listedBy: ehrId };
  const waiting = listed.filter((id) => !exported.has(id));
  for (let start = 0; start < waiting.length; start += AT_ONCE) {
    const group = waiting.slice(start, start + AT_ONCE);
    const lines = await Promise.all(group.map((id) => compositionLine(client, place, id)));
    for (const line of lines) if (line !== null) yield line;
    for (const id of group) exported.add(id);
  }
}

function pathOf(ehrId: string): string {
  return `/ehr/${encodeURIComponent(ehrId)}`;
}

/** No directory is 204 or 404; anything else, or a merged EHR, is none that may be passed over. */
function isLost({ status, successor }: ApiAnswer): boolean {
  return successor !== null || (status !== 204 && status !== 404);
}

async function required(client: ApiClient, path: string): Promise<string> {
  const { status, text } = await client.send('GET', path, AS_GIVEN);
  if (status !== 200) throw answerError(status, text);
  return text;
}

/** Null when it was deleted logically meanwhile. */
async function compositionLine(
  client: ApiClient,
  place: Place,
  versionedObjectUid: string,
): Promise<string | null> {
  const answer = await latestVersion(client, place, versionedObjectUid);
  const version = jsonObjectOf(answer.text);
  const { data } = version;
  if (data === undefined) return null;
  const state = textAt(version, 'lifecycle_state', 'defining_code', 'code_string') ?? LIFECYCLE.complete;
  const lifecycle = state === LIFECYCLE.complete ? '' : `,"lifecycle_state":${JSON.stringify(state)}`;
  return lineOf(place.listedBy, `"composition":${JSON.stringify(data)}${lifecycle}`);
}

/** How often an EHR may be merged, or taken back, while one COMPOSITION is looked for. */
const MAX_MOVES = 5;

/**
 * The latest version of a COMPOSITION that the EHR listed, wherever merges took it meanwhile.
 * @throws AnswerError on any failure; Error when the EHR does not list it any more, for it may be anywhere then
 */
async function latestVersion(
  client: ApiClient,
  place: Place,
  versionedObjectUid: string,
): Promise<ApiAnswer> {
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const { ehrId } = place;
    const path = `${pathOf(ehrId)}/versioned_composition/${versionedObjectUid}/version`;
    const answer = await client.send('GET', path, AS_GIVEN);
    if (answer.status === 200) return answer;
    if (answer.status !== 404) throw answerError(answer.status, answer.text);
    if (answer.successor !== null) place.ehrId = answer.successor;
    else if (ehrId !== place.listedBy) place.ehrId = place.listedBy;
    else break;
  }
  throw new Error(
    `EHR ${place.listedBy} listed COMPOSITION ${versionedObjectUid}, which is there no more: it was erased, or moved to another EHR; export again`,
  );
}

function lineOf(ehrId: string, members: string): string {
  return `{"ehr_id":${JSON.stringify(ehrId)},${members}}\n`;
}
