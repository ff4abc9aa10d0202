import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import { ehrObject, versionObject } from '../../policy/attributes.js';
import { holds, type Permitted } from '../../policy/condition.js';
import type { ReferenceEhr, ReferenceVersion } from './data.js';

/** Says what somebody may see. */
export interface Judge {
  readonly ehr: (ehr: ReferenceEhr) => boolean;
  /** Of a version with content. */
  readonly version: (version: ReferenceVersion) => boolean;
}

/** A judge by what policies permit. `systemId`: of this server. */
export function judgeOf(permitted: Permitted, systemId: string): Judge {
  return {
    ehr: ({ ehrId, namespace }) => holds(permitted.ehr, ehrObject({ ehrId, namespace, tags: {} })),
    version: (version) => holds(permitted.version, objectOf(version, systemId)),
  };
}

function objectOf(version: ReferenceVersion, systemId: string) {
  const { uid, ehrId, type, timeCommitted, commitAudit, lifecycleState, data } = version;
  const content = data ?? {};
  return versionObject({
    ...{ uid, ehrId, type, timeCommitted, content, systemId, tags: {} },
    templateId: templateOf(content),
    lifecycleState: codeOf(lifecycleState),
    committer: commitAudit['committer'],
  });
}

function templateOf({ archetype_details: details }: JsonObject): string | undefined {
  const template = isJsonObject(details) ? details['template_id'] : undefined;
  return isJsonObject(template) && typeof template['value'] === 'string' ? template['value'] : undefined;
}

function codeOf({ defining_code: code }: JsonObject): string {
  return isJsonObject(code) && typeof code['code_string'] === 'string' ? code['code_string'] : '';
}
