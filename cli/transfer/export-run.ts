import type { JsonObject } from '../../openehr/base/json.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import { textAt } from '../../openehr/rm/access.js';
import { answerError, type ApiClient } from './api-client.js';

/** COMPOSITIONs of one EHR that are fetched at once. */
const AT_ONCE = 8;

interface EhrAnswer {
  readonly compositions?: readonly { readonly id: { readonly value: string } }[];
}

/**
 * The lines of one EHR, each with its line end: EHR_STATUS, directory, every COMPOSITION that is not deleted, in
 * the order of their creation; the latest versions. An EHR_STATUS that forbids changes comes last, so that the
 * import can write what stands before it. @throws AnswerError when the EHR does not exist
 */
export async function* exportedLines(client: ApiClient, ehrId: string): AsyncGenerator<string> {
  const path = `/ehr/${encodeURIComponent(ehrId)}`;
  const ehr = JSON.parse(await required(client, `${path}?include=compositions`)) as EhrAnswer;
  const status = await required(client, `${path}/ehr_status`);
  const statusLine = lineOf(ehrId, `"ehr_status":${status}`);
  const isModifiable = (JSON.parse(status) as JsonObject).is_modifiable !== false;
  if (isModifiable) yield statusLine;
  const directory = await client.send('GET', `${path}/directory`);
  if (directory.status === 200) yield lineOf(ehrId, `"directory":${directory.text}`);
  const versionedObjectUids = (ehr.compositions ?? []).map(({ id }) => id.value);
  for (let start = 0; start < versionedObjectUids.length; start += AT_ONCE) {
    const group = versionedObjectUids.slice(start, start + AT_ONCE);
    const lines = await Promise.all(group.map((id) => compositionLine(client, ehrId, id)));
    for (const line of lines) if (line !== null) yield line;
  }
  if (!isModifiable) yield statusLine;
}

async function required(client: ApiClient, path: string): Promise<string> {
  const { status, text } = await client.send('GET', path);
  if (status !== 200) throw answerError(status, text);
  return text;
}

/** Null when it was deleted meanwhile. */
async function compositionLine(
  client: ApiClient,
  ehrId: string,
  versionedObjectUid: string,
): Promise<string | null> {
  const path = `/ehr/${encodeURIComponent(ehrId)}/versioned_composition/${versionedObjectUid}/version`;
  const answer = await client.send('GET', path);
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw answerError(answer.status, answer.text);
  const version = JSON.parse(answer.text) as JsonObject;
  const { data } = version;
  if (data === undefined) return null;
  const state = textAt(version, 'lifecycle_state', 'defining_code', 'code_string') ?? LIFECYCLE.complete;
  const lifecycle = state === LIFECYCLE.complete ? '' : `,"lifecycle_state":${JSON.stringify(state)}`;
  return lineOf(ehrId, `"composition":${JSON.stringify(data)}${lifecycle}`);
}

function lineOf(ehrId: string, members: string): string {
  return `{"ehr_id":${JSON.stringify(ehrId)},${members}}\n`;
}
