import type { Context } from 'koa';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { AuditDraft, type AuditWishes } from '../../change/commit/audit-draft.js';
import type { AuditSender, AuditSubject } from '../../models/audit.js';
import type { ParameterName } from './operation/parameters.js';
import type {
  AuthenticatedUser,
  MatchedOperation,
  SubjectClaims,
  TokenActor,
} from './request/request-state.js';

/** What a record is called whose address no operation has. */
const UNKNOWN_OPERATION = 'unknown';

/** Longest id of a path that a record repeats. */
const MAX_ID_LENGTH = 255;

/** Path parameters that name what an operation is about, beside the EHR. */
const OBJECT_IDS: readonly ParameterName[] = [
  'version_uid',
  'versioned_object_uid',
  'uid_based_id',
  'contribution_uid',
  'contribution_id',
  'composition_id',
  'directory_id',
  'template_id',
];

/** Begins the record of a request; from now on `auditAbout` adds to it. `successStatus`, `wishes`: as of `AuditDraft`. */
export function beginAudit(ctx: Context, successStatus: number, wishes: AuditWishes): AuditDraft {
  const draft = auditDraft(ctx, successStatus, wishes);
  ctx.state.auditDraft = draft;
  return draft;
}

/** A record of the request that nothing adds to. */
export function auditDraft(ctx: Context, successStatus: number, wishes: AuditWishes = {}): AuditDraft {
  return new AuditDraft(
    () => ({ ...senderOf(ctx), ...subjectOfPath(ctx), ...ctx.state.judgement?.() }),
    successStatus,
    wishes,
  );
}

/** Whether the request under way is recorded, so that it is of use to find out what its record could hold. */
export function isAudited(ctx: Context): boolean {
  return draftOf(ctx) !== undefined;
}

/** Tells what the request under way is about; a handler calls it as soon as it knows. */
export function auditAbout(ctx: Context, about: AuditSubject): void {
  draftOf(ctx)?.about(about);
}

/** The draft of the request under way, if it is recorded: as far as that depends on policies, once they are asked. */
export function draftOf(ctx: Context): AuditDraft | undefined {
  const { auditDraft: draft, judgement } = ctx.state;
  return draft?.wishes.isOptional === true && judgement === undefined ? undefined : draft;
}

/** What a record says of its user. */
type UserFields = Omit<AuditSender, 'address' | 'operation' | 'request_id'> &
  Pick<AuditSubject, 'organisation' | 'purpose'>;

function senderOf(ctx: Context): AuditSender & UserFields {
  const { requestId, user, address, matched } = ctx.state;
  return {
    ...(user === null ? { user: 'anonymous' } : userFields(user)),
    address,
    operation: matched?.operation.id ?? UNKNOWN_OPERATION,
    request_id: requestId,
  };
}

function userFields({ name, subject, issuer, clientId, actor, claims }: AuthenticatedUser): UserFields {
  return {
    user: name,
    sub: subject,
    ...(issuer !== null && { issuer }),
    ...(clientId !== null && { client_id: clientId }),
    ...(actor !== undefined && actorFields(actor)),
    ...(claims !== undefined && claimFields(claims)),
  };
}

function actorFields({ subject, issuer }: TokenActor): Pick<AuditSender, 'actor' | 'actor_issuer'> {
  return { actor: subject, ...(issuer !== undefined && { actor_issuer: issuer }) };
}

function claimFields({
  organisation,
  purpose,
}: SubjectClaims): Pick<AuditSubject, 'organisation' | 'purpose'> {
  return {
    ...(organisation !== undefined && { organisation }),
    ...(purpose !== undefined && { purpose }),
  };
}

/** What the path of the operation names; malformed ids of EHRs and what is too long to be an id are left out. */
function subjectOfPath(ctx: Context): AuditSubject {
  const { matched } = ctx.state;
  if (matched === null) return {};
  const { ehr_id: text } = matched.params;
  const ehrId = text === undefined ? null : parseEhrId(text);
  const objects = objectsOfPath(matched).filter((id) => id.length <= MAX_ID_LENGTH);
  return { ...(ehrId !== null && { ehr_id: ehrId }), ...(objects.length > 0 && { objects }) };
}

function objectsOfPath({ params }: MatchedOperation): string[] {
  const ids = OBJECT_IDS.flatMap((name) => params[name] ?? []);
  const { qualified_query_name: query, version, name } = params;
  if (name !== undefined) ids.push(name);
  if (query === undefined) return ids;
  return [...ids, version === undefined ? query : `${query}/${version}`];
}
