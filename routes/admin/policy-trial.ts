import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { comparePolicies, draftSet } from '../../change/policy/compare.js';
import { decideAccess, storedObject, type StoredObject } from '../../change/policy/decide.js';
import { attributeOf, type AccessObject } from '../../policy/object.js';
import { auditAbout } from '../http/audit-trail.js';
import { writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { compareBodyOf, decideBodyOf, describedObject } from './policy-request.js';
import { adminOperation } from './record.js';

const DECISION = 'AccessDecision';
const COMPARISON = 'AccessComparison';

/** Trying policies: nothing is stored, and nothing is refused by it. docs/access.md#trying */
export function triedPolicyOperations({ systemId }: Pick<Settings, 'systemId'>): Operation[] {
  return [
    adminOperation({
      id: 'decideAccess',
      discloses: 'whole',
      method: 'POST',
      path: '/policies/decide',
      summary: 'Tell what the stored policies say of a request, and why',
      request: { schema: 'AccessQuestion', types: 'json' },
      responses: { 200: { description: 'The decision', body: { schema: DECISION, types: 'json' } } },
      errors: [400, 404],
      failure: { root: DECISION, fields: { policies: [] } },
      handle: (ctx) => decide(ctx, systemId),
    }),
    adminOperation({
      id: 'comparePolicies',
      discloses: 'whole',
      method: 'POST',
      path: '/policies/compare',
      summary: 'Tell what a draft of all policies would change, and store nothing',
      request: { schema: 'AccessDraft', types: 'json' },
      responses: { 200: { description: 'What differs', body: { schema: COMPARISON, types: 'json' } } },
      errors: [400, 422],
      failure: { root: COMPARISON, fields: { differences: [] } },
      handle: (ctx) => compare(ctx, systemId),
    }),
  ];
}

async function decide(ctx: Context, systemId: string): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const { principal: subject, action, resource, emergency: isEmergency } = decideBodyOf(ctx);
  const object =
    describedObject(resource) ??
    (await found(ctx, resource as StoredObject, { systemId, organisation: subject.organisation }));
  const request = { subject, action, isEmergency };
  const { isPermitted, policies, marks, reasons } = await decideAccess(request, object);
  const decision = isPermitted ? 'permit' : 'forbid';
  writeText(ctx, form, JSON.stringify({ decision, policies, marks, reasons }));
  ctx.status = 200;
}

async function found(
  ctx: Context,
  stored: StoredObject,
  { systemId, organisation }: { readonly systemId: string; readonly organisation: string | undefined },
): Promise<AccessObject> {
  const { ehr_id: ehrId, uid } = stored;
  auditAbout(ctx, { ehr_id: ehrId, ...(uid !== undefined && { objects: [uid] }) });
  return storedObject(stored, systemId, organisation);
}

async function compare(ctx: Context, systemId: string): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const { policies, principals, actions } = compareBodyOf(ctx);
  const requests = principals.flatMap((subject) => actions.map((action) => ({ subject, action })));
  const { examined, isComplete, differences, examples } = await comparePolicies(
    await draftSet(policies),
    requests,
    systemId,
  );
  const asked = (request: number): JsonObject => ({
    principal: Math.floor(request / actions.length),
    action: actions[request % actions.length] ?? '',
  });
  const answer = {
    examined,
    complete: isComplete,
    differences: differences.map(({ request, ...counts }) => ({ ...asked(request), ...counts })),
    examples: examples.map(({ request, isPermitted, policies: by, object }) => ({
      ...asked(request),
      decision: isPermitted ? 'permit' : 'forbid',
      policies: by,
      ...nameOf(object),
    })),
  };
  auditAbout(ctx, {
    ehr_ids: [...new Set(examples.map(({ object }) => String(attributeOf(object, 'ehr_id'))))],
  });
  writeText(ctx, form, JSON.stringify(answer));
  ctx.status = 200;
}

function nameOf(object: AccessObject): JsonObject {
  const ehrId = String(attributeOf(object, 'ehr_id'));
  if (object.type === 'Ehr') return { ehr_id: ehrId };
  const template = attributeOf(object, 'template_id');
  return { ehr_id: ehrId, uid: object.uid, ...(typeof template === 'string' && { template_id: template }) };
}
