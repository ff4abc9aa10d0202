import { CdrError } from '../../openehr/base/errors.js';
import { runWrites, type Session } from '../../models/access/write.js';
import {
  putQueryOwner,
  queryOwner,
  queryOwnerInsert,
  type QueryOwnerDoc,
} from '../../models/definition/query-owner.js';
import { storedNames } from '../../models/definition/stored-query.js';
import type { ActPlan, WaitingAct } from '../../models/waiting-request.js';
import { digestOf, type Gate } from '../approval/gate.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';

/** Who stores a query where name spaces have owners (`QUERY_OWNERS`). */
export interface QueryDefiner {
  readonly sub: string;
  readonly iss: string | null;
  /** Has the permission `admin`. */
  readonly isAdministrator: boolean;
}

/** What has an owner, in lower case as names are compared: `org.a::` of `Org.a::bp`, a name without one itself. */
function nameSpaceOf(name: string): string {
  const [nameSpace = name, ...rest] = name.toLowerCase().split('::');
  return rest.length === 0 ? nameSpace : `${nameSpace}::`;
}

/**
 * Lets the owner of a name space and administrators store in it, in the caller's transaction: a caller that names no
 * version runs what whoever stored last put there. A new one belongs to who stores in it first; one that had queries before
 * anybody owned it is open until it is given to somebody. docs/spec/rest.md#query-owners
 * @throws forbidden for anybody else
 */
export async function requireOwner(session: Session, name: string, definer: QueryDefiner): Promise<void> {
  const nameSpace = nameSpaceOf(name);
  const owner = await queryOwner(nameSpace);
  if (owner === null) return ownNewNameSpace(session, nameSpace, definer);
  const isOfIssuer = owner.iss === undefined || owner.iss === definer.iss;
  const isOwner = isOfIssuer && owner.sub === definer.sub;
  if (!isOwner && !definer.isAdministrator)
    throw new CdrError(
      'forbidden',
      `${nameSpace} belongs to another user; storing there needs the permission admin`,
    );
}

async function ownNewNameSpace(
  session: Session,
  nameSpace: string,
  { sub, iss }: QueryDefiner,
): Promise<void> {
  const names = await storedNames();
  if (names.some((name) => nameSpaceOf(name) === nameSpace)) return;
  await runWrites(session, [queryOwnerInsert({ _id: nameSpace, sub, iss, since: new Date() })]);
}

/** Whom a name space (or the name of a query without one), in lower case, is given to. */
type NameSpaceOwner = Omit<Extract<WaitingAct, { operation: 'giveQueryNameSpace' }>, 'operation'>;

/** Gives a name space to somebody, whoever had it. `gate`: where that takes two persons. */
export function giveNameSpace(
  { name_space: nameSpace, sub, issuer }: NameSpaceOwner,
  since: Date,
  gate?: Gate,
): Promise<void> {
  const owner = { _id: nameSpace, sub, ...(issuer !== undefined && { iss: issuer }), since };
  return inAuditedTransaction(
    async (session) => {
      await gate?.pass(session, givingPlan(owner, await queryOwner(owner._id)));
      if (gate?.opens !== false) await putQueryOwner(owner);
    },
    () => ({ objects: [owner._id] }),
  );
}

/** What a second person sees, and agrees on. */
function givingPlan({ _id, sub, iss = null }: QueryOwnerDoc, present: QueryOwnerDoc | null): ActPlan {
  const before = present === null ? null : { sub: present.sub, issuer: present.iss ?? null };
  const named = (issuer: string | null): string => (issuer === null ? '' : ` of ${issuer}`);
  const whose = before === null ? 'nobody' : `${before.sub}${named(before.issuer)}`;
  return {
    digest: digestOf([_id, sub, iss, before]),
    summary: `the stored queries ${_id} go from ${whose} to ${sub}${named(iss)}`,
    ehr_ids: [],
  };
}
