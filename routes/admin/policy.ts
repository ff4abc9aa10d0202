import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { policyNotFound } from '../../change/policy/policy.js';
import { storedCategories } from '../../models/category.js';
import { policies, policyById, policyVersions } from '../../models/policy.js';
import type { PolicyAct } from '../../models/waiting-request.js';
import { readPolicy } from '../../policy/read-policy.js';
import { auditAbout } from '../http/audit-trail.js';
import { setResourceHeaders, writeText } from '../http/exchange.js';
import { responseBody } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { performOrAsk, waitingAnswer } from './acts.js';
import type { KnownUsers } from './permissions.js';
import { policyChanging, policyVersionId, policyView } from './policy-change.js';
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
        writeJson(ctx, { mode, policies: (await policies()).map(policyView) });
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
        setResourceHeaders(ctx, { etag: policyVersionId(policyView(found)) });
        writeText(ctx, form, form.format === 'TEXT' ? found.policy : JSON.stringify(policyView(found)));
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
  const putting = waitingAnswer(settings, 'putPolicy', { types: 'json' });
  const removing = waitingAnswer(settings, 'removePolicy', { usual: 204, types: 'json' });
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
        ...putting.answer,
      },
      ...putting.committed,
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
      responses: { 204: { description: 'Removed' }, ...removing.answer },
      ...removing.committed,
      errors: [404, 409],
      failure: NOTHING,
      handle: (ctx) => remove(ctx, settings, users),
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
  const form = responseBody('json', ctx.get('Accept'));
  const act = { operation: 'putPolicy', policy: policyTextOf(ctx), policy_id: idOf(ctx) } as const;
  await change(ctx, act, { settings, users }, (stored) => {
    setResourceHeaders(ctx, { etag: policyVersionId(stored) });
    ctx.status = 200;
    writeText(ctx, form, JSON.stringify(stored));
  });
}

async function remove(ctx: Context, settings: Settings, users: KnownUsers): Promise<void> {
  // What is said where it waits; where it does not nothing is.
  responseBody('json', ctx.get('Accept'));
  const act = { operation: 'removePolicy', policy_id: idOf(ctx) } as const;
  await change(ctx, act, { settings, users }, () => {
    ctx.status = 204;
  });
}

/** Changes a policy, or lets that wait for a second person. */
async function change(
  ctx: Context,
  act: PolicyAct,
  { settings, users }: { readonly settings: Settings; readonly users: KnownUsers },
  answer: (fields: JsonObject) => void,
): Promise<void> {
  const changing = await policyChanging(ctx, settings, users);
  await performOrAsk(ctx, settings, { act, dryRun: false, policies: changing, answer });
}

async function validate(ctx: Context): Promise<void> {
  const { policy, findings } = await readPolicy('policy', policyTextOf(ctx), await storedCategories());
  writeJson(ctx, { valid: policy !== null, findings: findings.map((finding) => ({ ...finding })) });
}

async function listVersions(ctx: Context): Promise<void> {
  const versions = await policyVersions(idOf(ctx));
  if (versions.length === 0) throw policyNotFound(idOf(ctx));
  const listed = versions.map(({ version, policy, time, by, confirmed_by: second }) => ({
    version,
    policy,
    time: formatUtc(time),
    by,
    ...(second !== undefined && { confirmed_by: second }),
  }));
  writeJson(ctx, { versions: listed });
}

function writeJson(ctx: Context, body: JsonObject): void {
  const form = responseBody('json', ctx.get('Accept'));
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(body));
}

function idOf(ctx: Context): string {
  const id = pathParameter(ctx, 'policy_id');
  auditAbout(ctx, { target: id });
  return id;
}
