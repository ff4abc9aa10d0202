import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { policyNotFound, removePolicy, storePolicy, type PolicyChange } from '../../change/policy/policy.js';
import { policies, policyById, policyVersions, type PolicyDoc } from '../../models/policy.js';
import { readPolicy } from '../../policy/read-policy.js';
import type { Subject } from '../../policy/subject.js';
import { auditAbout } from '../http/audit-trail.js';
import { setResourceHeaders, writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { subjectOf } from '../http/request/subject.js';
import type { KnownUsers } from './permissions.js';
import { observedOperation } from './policy-observed.js';
import { policyTextOf } from './policy-request.js';
import { triedPolicyOperations } from './policy-trial.js';
import { adminOperation } from './record.js';

const POLICY = 'AccessPolicy';
const NOTHING = { root: POLICY, fields: { id: '' } };
const ONE = '/policies/{policy_id}';

/** Who may see what: policies in Cedar, kept, checked and tried. docs/access.md#policies */
export function policyOperations(settings: Settings, users: KnownUsers): Operation[] {
  const { accessMode: mode } = settings;
  if (mode === 'off') return [];
  return [
    ...listingOperations(mode),
    ...changingOperations(settings, users),
    ...triedPolicyOperations(settings),
    observedOperation(),
  ];
}

function listingOperations(mode: Settings['accessMode']): Operation[] {
  return [
    adminOperation({
      id: 'listPolicies',
      discloses: 'nothing',
      method: 'GET',
      path: '/policies',
      summary: 'List the policies of access, and tell whether they are enforced',
      responses: { 200: { description: 'By id', body: { schema: 'AccessPolicyList', types: 'json' } } },
      failure: { root: 'AccessPolicyList', fields: { policies: [] } },
      handle: async (ctx) => {
        writeJson(ctx, { mode, policies: (await policies()).map(view) });
      },
    }),
    adminOperation({
      id: 'getPolicy',
      discloses: 'nothing',
      method: 'GET',
      path: ONE,
      summary: 'Get a policy of access',
      responses: {
        200: { description: 'The policy', body: { schema: POLICY, types: 'policy' }, headers: ['ETag'] },
      },
      errors: [404],
      failure: NOTHING,
      handle: async (ctx) => {
        const form = responseBody('policy', ctx.get('Accept'));
        const found = await policyById(idOf(ctx));
        if (found === null) throw policyNotFound(idOf(ctx));
        setResourceHeaders(ctx, { etag: `${found._id}::${found.version}` });
        writeText(ctx, form, form.format === 'TEXT' ? found.policy : JSON.stringify(view(found)));
      },
    }),
    adminOperation({
      id: 'listPolicyVersions',
      discloses: 'nothing',
      method: 'GET',
      path: `${ONE}/versions`,
      summary: 'List every version that a policy ever had, removals too',
      responses: {
        200: { description: 'Oldest first', body: { schema: 'AccessPolicyVersions', types: 'json' } },
      },
      errors: [404],
      failure: { root: 'AccessPolicyVersions', fields: { versions: [] } },
      handle: listVersions,
    }),
  ];
}

function changingOperations(settings: Settings, users: KnownUsers): Operation[] {
  return [
    adminOperation({
      id: 'putPolicy',
      discloses: 'nothing',
      method: 'PUT',
      path: ONE,
      summary: 'Store a policy of access, or another text of one',
      request: { schema: 'AccessPolicyBody', types: 'textOrJson' },
      responses: {
        200: { description: 'As it is kept', body: { schema: POLICY, types: 'json' }, headers: ['ETag'] },
      },
      errors: [400, 409, 422],
      failure: NOTHING,
      handle: (ctx) => put(ctx, settings, users),
    }),
    adminOperation({
      id: 'removePolicy',
      discloses: 'nothing',
      method: 'DELETE',
      path: ONE,
      summary: 'Remove a policy of access; its versions stay',
      responses: { 204: { description: 'Removed' } },
      errors: [404],
      failure: NOTHING,
      handle: async (ctx) => {
        await removePolicy(await changeOf(ctx, settings, users));
        ctx.status = 204;
      },
    }),
    adminOperation({
      id: 'validatePolicy',
      discloses: 'nothing',
      method: 'POST',
      path: '/policies/validate',
      summary: 'Tell what is wrong with the text of a policy, and store nothing',
      request: { schema: 'AccessPolicyBody', types: 'textOrJson' },
      responses: {
        200: { description: 'What is said of it', body: { schema: 'AccessPolicyFindings', types: 'json' } },
      },
      errors: [400],
      failure: { root: 'AccessPolicyFindings', fields: { findings: [] } },
      handle: validate,
    }),
  ];
}

async function put(ctx: Context, settings: Settings, users: KnownUsers): Promise<void> {
  const text = policyTextOf(ctx);
  const stored = await storePolicy(text, settings.policiesMax, await changeOf(ctx, settings, users));
  setResourceHeaders(ctx, { etag: `${stored._id}::${stored.version}` });
  writeJson(ctx, view(stored));
}

async function validate(ctx: Context): Promise<void> {
  const { policy, findings } = await readPolicy('policy', policyTextOf(ctx));
  writeJson(ctx, { valid: policy !== null, findings: findings.map((finding) => ({ ...finding })) });
}

async function listVersions(ctx: Context): Promise<void> {
  const versions = await policyVersions(idOf(ctx));
  if (versions.length === 0) throw policyNotFound(idOf(ctx));
  const listed = versions.map(({ version, policy, time, by }) => ({
    version,
    policy,
    time: formatUtc(time),
    by,
  }));
  writeJson(ctx, { versions: listed });
}

function writeJson(ctx: Context, body: JsonObject): void {
  const form = responseBody('json', ctx.get('Accept'));
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(body));
}

function view({ _id: id, policy, version, time, by }: PolicyDoc): JsonObject {
  return { id, policy, version, time: formatUtc(time), by };
}

function idOf(ctx: Context): string {
  const id = pathParameter(ctx, 'policy_id');
  auditAbout(ctx, { target: id });
  return id;
}

async function changeOf(ctx: Context, settings: Settings, users: KnownUsers): Promise<PolicyChange> {
  const { user } = ctx.state;
  const { name: by = 'anonymous', subject: sub, issuer: iss } = user ?? {};
  const asking = user === null ? [] : [await subjectOf(user)];
  return {
    id: idOf(ctx),
    by: { by, ...(sub !== undefined && { sub }), ...(iss != null && { iss }) },
    administrators: [...asking, ...knownAdministrators(settings, users)],
  };
}

/** Users with passwords who may administrate; those of tokens are known to their issuer alone. */
function knownAdministrators({ rolePermissions }: Settings, users: KnownUsers): Subject[] {
  return (users() ?? [])
    .filter(({ roles }) => roles.some((role) => rolePermissions[role]?.includes('admin')))
    .map(({ name, roles }) => ({ sub: name, iss: 'basic', roles, scopes: [] }));
}
