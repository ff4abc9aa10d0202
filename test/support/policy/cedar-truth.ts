import type { CedarValueJson, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { cedar } from '../../../policy/cedar.js';
import type { AttributeValue, AccessObject } from '../../../policy/object.js';
import type { Request } from '../../../policy/known.js';
import type { Decision } from '../../../policy/policy-set.js';
import { CEDAR_SCHEMA } from '../../../policy/schema.js';

/** What Cedar's own authoriser decides. `policies`: texts by id. */
export async function cedarDecision(
  policies: Readonly<Record<string, string>>,
  { subject, action }: Request,
  object: AccessObject,
): Promise<Pick<Decision, 'isPermitted' | 'policies'>> {
  const { isAuthorized } = await cedar();
  const principal = { type: 'User', id: subject.sub };
  const resource = { type: object.type, id: object.uid };
  const answer = isAuthorized({
    principal,
    action: { type: 'Action', id: action },
    resource,
    context: {},
    schema: CEDAR_SCHEMA,
    validateRequest: true,
    policies: { staticPolicies: { ...policies } },
    entities: [
      {
        uid: principal,
        attrs: { ...subject, roles: [...subject.roles], scopes: [...subject.scopes] },
        parents: [],
      },
      objectEntity(object),
    ],
  });
  if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors));
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors));
  return { isPermitted: decision === 'allow', policies: [...diagnostics.reason].sort() };
}

function objectEntity({ type, uid, attributes, tags }: AccessObject): EntityJson {
  const parents = type === 'Version' ? [{ type: 'Ehr', id: String(attributes['ehr_id']) }] : [];
  return {
    uid: { type, id: uid },
    attrs: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, cedarValue(value)])),
    parents,
    tags: Object.fromEntries(Object.entries(tags).map(([key, values]) => [key, [...values]])),
  };
}

function cedarValue(value: AttributeValue): CedarValueJson {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return { __extn: { fn: 'datetime', arg: new Date(value).toISOString() } };
  return [...value];
}
