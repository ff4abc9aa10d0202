import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import { ehrObject, versionObject, type AccessTags } from '../../policy/attributes.js';
import type { AccessObject } from '../../policy/object.js';
import { inSteps } from '../access/in-steps.js';
import type { EhrDoc } from '../ehr.js';
import { accessTagsOf } from '../access-tag.js';
import { latestVersions, versionsById, type VersionDoc } from '../version.js';
import { containersOfEhr } from '../versioned-object.js';

/** Versions that are read together: each may have megabytes. */
const AT_ONCE = 50;

/** An EHR as policies see it now, and its tags, which what is in it has too. */
export async function policyEhr(
  ehr: EhrDoc,
): Promise<{ readonly object: AccessObject; readonly tags: AccessTags }> {
  const { _id: ehrId, subject } = ehr;
  const tags = await accessTagsOf(ehrId);
  return { object: ehrObject({ ehrId, namespace: subject?.namespace, tags }), tags };
}

/**
 * A VERSION as policies see it; a deletion by what was deleted. `readsContent`: false where no policy asks for what only the content
 * says, which then is not read.
 */
export async function policyVersion(
  version: VersionDoc,
  tags: AccessTags,
  systemId: string,
  readsContent = true,
): Promise<AccessObject> {
  return versionObject({
    uid: version._id,
    ehrId: version.ehr_id,
    type: version.type,
    templateId: version.template_id,
    timeCommitted: version.time_committed,
    lifecycleState: codeOf(version.lifecycle_state),
    committer: version.commit_audit.committer,
    content: readsContent ? await contentOf(version) : {},
    systemId,
    tags,
  });
}

async function contentOf({
  data,
  ehr_id: ehrId,
  preceding_version_uid: uid,
}: VersionDoc): Promise<JsonObject> {
  if (data !== null) return JSON.parse(data) as JsonObject;
  const [preceding] = uid === undefined ? [] : await versionsById(ehrId, [uid]);
  return preceding === undefined ? {} : contentOf(preceding);
}

function codeOf({ defining_code: code }: JsonObject): string {
  return isJsonObject(code) && typeof code.code_string === 'string' ? code.code_string : '';
}

/** The latest versions of the first `count` containers of an EHR as policies see them, and how many containers it has. */
export async function policyVersionsOf(
  ehrId: string,
  { tags, systemId, count }: { readonly tags: AccessTags; readonly systemId: string; readonly count: number },
): Promise<{ readonly objects: readonly AccessObject[]; readonly containers: number }> {
  const containers = await containersOfEhr(ehrId);
  const objects: AccessObject[] = [];
  for (const part of inSteps(containers.slice(0, count), AT_ONCE))
    for (const version of (await latestVersions(part)).values())
      objects.push(await policyVersion(version, tags, systemId));
  return { objects, containers: containers.length };
}
