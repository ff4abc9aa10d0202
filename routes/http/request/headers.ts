import type { Context } from 'koa';
import { DIALECTS } from '../../../openehr/base/dialect.js';
import { CdrError } from '../../../openehr/base/errors.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { noFindings } from '../../../openehr/rm/lenient.js';
import type { AuditRequest } from '../../../change/commit/audit.js';
import {
  CHANGE_TYPE,
  LIFECYCLE,
  changeTypeOf,
  lifecycleStateOf,
  type ChangeType,
  type GivenTerm,
  type LifecycleState,
} from '../../../change/commit/codes.js';
import type { ChangeSettings } from '../../../change/commit/context.js';
import { validatedCommitter, requireOwnCommitter } from '../../../change/commit/committer.js';
import type { VersionMetadata } from '../../../change/commit/request.js';
import { commitPairs, type CommitPairs } from './commit-pairs.js';
import { usesStdWord } from '../negotiation/media-type.js';

/** A direct change. */
type ChangeMethod = 'POST' | 'PUT' | 'DELETE';

const ALLOWED: Readonly<Record<ChangeMethod, readonly ChangeType[]>> = {
  POST: [CHANGE_TYPE.creation, CHANGE_TYPE.synthesis, CHANGE_TYPE.unknown, CHANGE_TYPE['format conversion']],
  PUT: [
    CHANGE_TYPE.modification,
    CHANGE_TYPE.amendment,
    CHANGE_TYPE.synthesis,
    CHANGE_TYPE.unknown,
    CHANGE_TYPE.restoration,
    CHANGE_TYPE['format conversion'],
  ],
  DELETE: [CHANGE_TYPE.deleted],
};

/** What the headers of a request say of a commit; what they do not say is undefined. */
interface CommitHeaders {
  readonly changeType: ChangeType | undefined;
  readonly description: JsonObject | undefined;
  /** Where the client's is kept. */
  readonly systemId: string | undefined;
  /** PARTY_IDENTIFIED: as given, with the name of the token's user where none is given. */
  readonly committer: JsonObject;
  /** Name of the user when this is the only committer that he may name (`COMMITTER_MUST_BE_USER`); null: any. */
  readonly onlyCommitter: string | null;
  readonly lifecycleState: LifecycleState | undefined;
  readonly signature: string | undefined;
  readonly isLenient: boolean;
}

/**
 * Reads the commit metadata headers. docs/spec/rest.md#commit-metadata. @throws invalid; forbidden for
 * another's committer
 */
export function commitHeaders(ctx: Context, settings: ChangeSettings): CommitHeaders {
  const pairs = commitPairs(ctx);
  const { audit, version } = pairs;
  const systemId = audit.get('system_id');
  requireOwnSystem(systemId, settings);
  const changeType = termAt(audit, 'change_type');
  const state = termAt(version, 'lifecycle_state');
  const description = audit.get('description.value');
  const committer = committerOf(ctx, pairs);
  const onlyCommitter = onlyCommitterOf(ctx, settings);
  requireOwnCommitter(committer, onlyCommitter);
  return {
    changeType: changeType && changeTypeOf(changeType),
    description: description === undefined ? undefined : { _type: 'DV_TEXT', value: description },
    systemId: DIALECTS[settings.itsRest].isSystemOfClientKept ? systemId : undefined,
    committer,
    onlyCommitter,
    lifecycleState: state && lifecycleStateOf(state),
    signature: version.get('signature'),
    isLenient: ctx.state.isLenient,
  };
}

/** The metadata of a direct POST, PUT or DELETE, defaults filled in. @throws as `commitHeaders` */
export function commitMetadata(
  ctx: Context,
  method: ChangeMethod,
  settings: ChangeSettings,
): VersionMetadata {
  const headers = commitHeaders(ctx, settings);
  const [usual] = ALLOWED[method];
  const changeType = headers.changeType ?? usual;
  if (changeType === undefined || !ALLOWED[method].includes(changeType))
    throw new CdrError('invalid', `the change type ${String(changeType)} is not possible with ${method}`);
  const audit: AuditRequest = {
    changeType,
    committer: headers.committer,
    description: headers.description,
    systemId: headers.systemId,
  };
  const lifecycleState = stateFor(method, headers.lifecycleState);
  return { audit, lifecycleState, signature: headers.signature, findings: noFindings(headers.isLenient) };
}

function stateFor(method: ChangeMethod, given: LifecycleState | undefined): LifecycleState {
  // What is deleted is deleted, whatever state a client names.
  if (method === 'DELETE') return LIFECYCLE.deleted;
  const state = given ?? LIFECYCLE.complete;
  if (state === LIFECYCLE.deleted)
    throw new CdrError('invalid', `the lifecycle state ${state} is not possible with ${method}`);
  return state;
}

function termAt(pairs: ReadonlyMap<string, string>, name: string): GivenTerm | undefined {
  const code = pairs.get(`${name}.code_string`);
  const rubric = pairs.get(`${name}.value`);
  return code === undefined && rubric === undefined ? undefined : { code, rubric };
}

/** @throws invalid for an empty system id, and for another one under `ACCEPT_FOREIGN_SYSTEM_ID=false` */
function requireOwnSystem(systemId: string | undefined, settings: ChangeSettings): void {
  if (systemId === '') throw new CdrError('invalid', 'the system_id must not be empty');
  if (systemId === undefined || systemId === settings.systemId || settings.acceptForeignSystemId) return;
  throw new CdrError('invalid', `the system_id must be ${settings.systemId}`);
}

function committerOf(ctx: Context, { audit }: CommitPairs): JsonObject {
  const name = audit.get('committer.name') ?? ctx.state.user?.name ?? 'anonymous';
  const reference = groupOf(audit, 'committer.external_ref.');
  const identifier = groupOf(audit, 'committer.identifiers.');
  const committer: JsonObject = { _type: 'PARTY_IDENTIFIED' };
  if (reference.size > 0) committer.external_ref = partyRef(reference);
  committer.name = name;
  if (identifier.size > 0)
    committer.identifiers = [{ _type: 'DV_IDENTIFIER', ...Object.fromEntries(identifier) }];
  return audit.size === 0 ? committer : validatedCommitter(committer);
}

function onlyCommitterOf(ctx: Context, { committerMustBeUser }: ChangeSettings): string | null {
  const { user } = ctx.state;
  return !committerMustBeUser || user === null || user.permissions.has('commit_for_others')
    ? null
    : user.name;
}

function partyRef(given: ReadonlyMap<string, string>): JsonObject {
  const id = given.get('id');
  const namespace = given.get('namespace');
  const type = given.get('type');
  if (id === undefined || namespace === undefined || type === undefined)
    throw new CdrError('invalid', 'committer.external_ref needs id, namespace and type');
  return { _type: 'PARTY_REF', id: { _type: 'GENERIC_ID', value: id, scheme: 'id_scheme' }, namespace, type };
}

function groupOf(pairs: ReadonlyMap<string, string>, prefix: string): Map<string, string> {
  const group = [...pairs].filter(([key]) => key.startsWith(prefix));
  return new Map(group.map(([key, value]) => [key.slice(prefix.length), value]));
}

const VENDOR_NAME = /^(openehr|std)[-_]/;

/**
 * The value of a vendor header by the part of its name after `openehr-` or `std-`; null when it was not sent.
 * `_` and `-` are the same in these names. @throws invalid when two spellings come with different values
 */
export function vendorHeader(ctx: Context, name: string): string | null {
  const wanted = name.toLowerCase().replaceAll('_', '-');
  const values = Object.entries(ctx.headers)
    .filter(([header]) => VENDOR_NAME.test(header))
    .filter(([header]) => header.replace(VENDOR_NAME, '').replaceAll('_', '-') === wanted)
    .map(([, value]) => (Array.isArray(value) ? value.join(', ') : (value ?? '')));
  if (new Set(values).size > 1)
    throw new CdrError(
      'invalid',
      `the header openehr-${wanted} was sent in two spellings with different values`,
    );
  return values[0] ?? null;
}

/** The vendor word of the answer: `std` when the request used it anywhere, else `openehr`. */
export function requestVendorWord(ctx: Context): 'std' | 'openehr' {
  const usesStd =
    Object.keys(ctx.headers).some((header) => /^std[-_]/.test(header)) ||
    Object.keys(ctx.query).some((name) => name.startsWith('std')) ||
    usesStdWord(ctx.get('Accept')) ||
    usesStdWord(ctx.get('Content-Type'));
  return usesStd ? 'std' : 'openehr';
}
