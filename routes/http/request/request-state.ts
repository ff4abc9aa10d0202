import { isIPv6 } from 'node:net';
import type { Context } from 'koa';
import type { Work } from '../../../openehr/base/work.js';
import type { AuditDraft } from '../../../change/commit/audit-draft.js';
import type { AuditSubject } from '../../../models/audit.js';
import type { SmartGrants } from '../../../policy/smart-grants.js';
import type { FailureRecord } from '../failure/error-status.js';
import type { Operation, Permission } from '../operation/operation.js';
import type { ParameterName } from '../operation/parameters.js';
import type { Returns } from './prefer.js';

/** Who asks. */
export interface AuthenticatedUser {
  /** Shown in audits: `preferred_username`, else `sub`. */
  readonly name: string;
  /** `sub`, never empty. */
  readonly subject: string;
  /** `iss`; `basic` for users of `BASIC_USERS_FILE`. */
  readonly issuer: string | null;
  /** The `sub` of this person's tokens; null: a user with a password of whom nobody said it. */
  readonly person: string | null;
  /** `azp`, else `client_id`. */
  readonly clientId: string | null;
  /** Upper-cased. */
  readonly roles: readonly string[];
  readonly permissions: ReadonlySet<Permission>;
  /** What a token says beside that, where policies of access are enforced or reads are recorded. */
  readonly claims?: SubjectClaims;
  /** What the scopes of his token grant; absent: they restrict nothing. docs/smart.md */
  readonly smart?: SmartGrants;
  /** Who acts for the user, where his token says so. */
  readonly actor?: TokenActor;
}

/** The claim `act` of a token (RFC 8693, 4.1): an application, or a person, that asks for the user. */
export interface TokenActor {
  readonly subject: string;
  readonly issuer?: string;
}

/** An EHR that a token names, and the claim in which it does. */
export interface ClaimedEhr {
  readonly id: string;
  readonly claim: string;
}

/** Claims of a token that policies of access may ask for. docs/access.md#who-asks */
export interface SubjectClaims {
  readonly organisation?: string;
  readonly purpose?: string;
  /** The EHR of the user himself, who is a patient. */
  readonly ehr?: ClaimedEhr;
  /** The one that his application was opened for, whoever he is: it makes nobody its patient. */
  readonly openedFor?: ClaimedEhr;
  readonly scopes: readonly string[];
  /** What says nothing or two things, for which the token is refused where policies hold; absent: nothing does. */
  readonly unreadable?: string;
}

/** What who breaks the glass says. docs/access.md#emergency-access */
export interface EmergencyAccess {
  /** Code of HL7. */
  readonly purpose: string;
  readonly reason: string;
  /** The one EHR that it is for; null: it is looked for or made. */
  readonly ehrId: string | null;
}

/** The operation that a request is for, with the segments of its path. */
export interface MatchedOperation {
  readonly operation: Operation;
  /** Decoded once; a segment that cannot be decoded stays as it is and fits no grammar. */
  readonly params: Readonly<Partial<Record<ParameterName, string>>>;
}

/** What scopes of a token say of definitions that an operation finds by itself. docs/smart.md#operations */
export interface DefinitionScopes {
  /** Whether a list has it. */
  readonly lists: (kind: 'template' | 'aql', name: string) => boolean;
  /** @throws forbidden for a template that must not be made or changed */
  readonly requireUpload: (templateId: string) => void;
}

/** `ctx.state`: what the middleware in `src/` puts there before an operation runs. */
export interface RequestState {
  /** Made by this server, answered in `X-Request-Id`. */
  readonly requestId: string;
  /** `X-Request-Id` of the client, which may repeat; null when it is missing or malformed. */
  readonly clientRequestId: string | null;
  /** Scheme, host and port of generated links, no trailing slash. */
  readonly origin: string;
  /** `origin` with `BASE_PATH`: what the paths of the APIs are appended to. Empty until the origin is known. */
  readonly baseUrl: string;
  /** Most nodes of the body. */
  maxBodyNodes: number;
  /** Zone of times given without one. */
  readonly defaultTimezone: string;
  /** Of this server. */
  readonly systemId: string;
  /** What a write answers unless `Prefer` says it. */
  readonly preferDefault: Returns;
  /** What this write answers. */
  returns?: Returns;
  /** null without an identity (only possible for open operations and with `AUTH=none`). */
  user: AuthenticatedUser | null;
  /** Of the client: that of the connection, or as a trusted proxy gives it. */
  address: string;
  /** Validation is lenient: `VALIDATION` allows it, and a user with the permission `admin` asks for it. */
  isLenient: boolean;
  /** What the request may use, all its parts together. */
  readonly work: Work;
  /** null: no operation has this path and method. */
  readonly matched: MatchedOperation | null;
  /** Methods that the path has; empty: no operation has this path. */
  readonly allowed: readonly string[];
  /** How the error body begins; absent: as those of the standard API. */
  failureRecord?: FailureRecord;
  /** The record of a request that is recorded. */
  auditDraft?: AuditDraft;
  /** What policies of access have said so far of a request; absent: they were not asked. */
  judgement?: () => AuditSubject;
  /** That it is an emergency, and why; absent: nobody says so. */
  emergency?: EmergencyAccess;
  /** What scopes of the token say of templates and stored queries; absent: they restrict nothing. */
  definitionScopes?: DefinitionScopes;
  /** Uid of the version whose content is answered, in whatever form; absent: the answer is something else. */
  contentVersion?: string;
}

declare module 'koa' {
  // Types `ctx.state` everywhere.
  interface DefaultState extends RequestState {}
}

/** Prefix of every generated link of the standard API, after the base URL. */
export const STANDARD_API = '/rest/openehr/v1';

/** The operation that runs. @throws TypeError outside of one */
export function currentOperation(ctx: Context): MatchedOperation {
  const { matched } = ctx.state;
  if (matched === null) throw new TypeError('no operation runs');
  return matched;
}

/** Who shares places and rates: the user of the token, else the client's address. */
export function requesterOf(ctx: Context): string {
  const { user, address } = ctx.state;
  return user === null ? networkOf(address) : JSON.stringify([user.issuer, user.subject]);
}

/** The address itself, or of version 6 the /64 network: whoever has one such address has a whole network of them. */
export function networkOf(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}
