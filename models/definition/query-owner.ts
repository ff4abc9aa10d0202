import { COLLECTIONS } from '../access/layout.js';
import { collection, date, nullable, optional, text, type DocumentOf } from '../access/collection.js';
import type { InsertWrite } from '../access/write.js';

const QUERY_OWNER = {
  /** The name space with its `::`, or the name of a query without one, in lower case. */
  _id: text,
  sub: text,
  /** null: his token names none. Absent: whoever gave it to this `sub` named none, so that of any is meant. */
  iss: optional(nullable(text)),
  since: date,
};

/** Whom a name space of stored queries belongs to. Fields: docs/spec/storage.md#other-collections. */
export type QueryOwnerDoc = DocumentOf<typeof QUERY_OWNER>;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.queryOwners]: QueryOwnerDoc;
  }
}

const QueryOwner = collection(COLLECTIONS.queryOwners, QUERY_OWNER);

/** Whom the name space belongs to, null when to nobody. Joins the caller's transaction. */
export function queryOwner(nameSpace: string): Promise<QueryOwnerDoc | null> {
  return QueryOwner.findOne({ _id: nameSpace }).exec();
}

/** The write that gives a name space to its first owner. */
export function queryOwnerInsert(insert: QueryOwnerDoc): InsertWrite<'query_owners'> {
  return { collection: COLLECTIONS.queryOwners, insert };
}

/** Gives a name space to somebody, whoever had it. Joins the caller's transaction. */
export async function putQueryOwner({ _id, ...fields }: QueryOwnerDoc): Promise<void> {
  await QueryOwner.replaceOne({ _id }, fields, { upsert: true }).exec();
}
