import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, jsonObjectOf, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { textAt } from '../../openehr/rm/access.js';
import { answerError, type ApiClient } from '../transfer/api-client.js';

/** What became of a directory. */
type MovedDirectory = 'same' | 'committed';

/**
 * Commits a directory as it is now, where the old server does not show its versions.
 * @throws AnswerError when it is refused
 */
export async function moveDirectory(
  client: ApiClient,
  ehrId: string,
  directory: JsonObject,
): Promise<MovedDirectory> {
  const path = `/ehr/${ehrId}/directory`;
  const uid = { _type: 'HIER_OBJECT_ID', value: rootOfUid(textAt(directory, 'uid', 'value') ?? '') };
  const body = JSON.stringify({ ...directory, uid });
  const here = await client.send('GET', path);
  if (here.status === 200 && isSameFolder(jsonObjectOf(here.text), directory)) return 'same';
  const headers = here.status === 200 ? { 'If-Match': `"${here.etag}"` } : {};
  const { status, text } = await client.send(here.status === 200 ? 'PUT' : 'POST', path, { body, headers });
  if (status >= 300) throw answerError(status, text);
  return 'committed';
}

/** Whether two FOLDERs say the same; a server makes the uids. */
function isSameFolder(one: JsonObject, other: JsonObject): boolean {
  return isDeepStrictEqual(withoutUids(one), withoutUids(other));
}

function withoutUids(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => withoutUids(each) ?? null);
  if (!isJsonObject(value)) return value;
  const isFolder = value._type === 'FOLDER';
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      isFolder && name === 'uid' ? [] : [[name, withoutUids(member) ?? null]],
    ),
  );
}
