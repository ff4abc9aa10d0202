import { model, Schema } from 'mongoose';

import { COLLECTIONS } from '../layout.js';
import { SCHEMA_OPTIONS } from '../access/schema.js';
import type { InsertWrite } from '../access/write.js';

/** Whom a name space of stored queries belongs to. Fields: docs/spec/storage.md#other-collections. */
export interface QueryOwnerDoc {
  /** The name space with its `::`, or the name of a query without one, in lower case. */
  readonly _id: string;
  readonly sub: string;
  /** null: his token names none. Absent: whoever gave it to this `sub` named none, so that of any is meant. */
  readonly iss?: string | null;
  readonly since: Date;
}

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.queryOwners]: QueryOwnerDoc;
  }
}

const QueryOwner = model(
  'QueryOwner',
  new Schema<QueryOwnerDoc>({ _id: String, sub: String, iss: String, since: Date }, SCHEMA_OPTIONS),
  COLLECTIONS.queryOwners,
);

/** Whom the name space belongs to, null when to nobody. Joins the caller's transaction. */
export function queryOwner(nameSpace: string): Promise<QueryOwnerDoc | null> {
  return QueryOwner.findOne({ _id: nameSpace }).lean<QueryOwnerDoc>().exec();
}

/** The write that gives a name space to its first owner. */
export function queryOwnerInsert(insert: QueryOwnerDoc): InsertWrite<'query_owners'> {
  return { collection: COLLECTIONS.queryOwners, insert };
}

/** Gives a name space to somebody, whoever had it. Joins the caller's transaction. */
export async function putQueryOwner({ _id, ...fields }: QueryOwnerDoc): Promise<void> {
  await QueryOwner.replaceOne({ _id }, fields, { upsert: true }).exec();
}
