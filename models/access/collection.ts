import { model, Schema, type mongo } from 'mongoose';
import type { CollectionName } from './layout.js';
import type { Update } from './write.js';

/** What mongoose makes of a field. */
type StoredAs =
  | StringConstructor
  | NumberConstructor
  | DateConstructor
  | BooleanConstructor
  | typeof Schema.Types.Mixed
  | Schema
  | readonly StoredAs[];

/** One field of a collection: what mongoose checks, and what TypeScript reads. */
interface Field<V, IsOptional extends boolean = false> {
  readonly storedAs: StoredAs;
  readonly isOptional: IsOptional;
  /** Only a type: what the field holds. */
  readonly holds?: V;
}

/** The fields of a collection, or of an object in a field, by name. */
type Fields = Readonly<Record<string, Field<unknown, boolean>>>;

type Held<F> = F extends Field<infer V, boolean> ? V : never;
type OptionalName<F> = { [N in keyof F]: F[N] extends Field<unknown, true> ? N : never }[keyof F];

/** What a document with these fields is. */
export type DocumentOf<F extends Fields> = {
  readonly [N in keyof F as N extends OptionalName<F> ? never : N]: Held<F[N]>;
} & { readonly [N in keyof F as N extends OptionalName<F> ? N : never]?: Held<F[N]> };

const fieldStoredAs = <V>(storedAs: StoredAs): Field<V> => ({ storedAs, isOptional: false });

/** A text. */
export const text = fieldStoredAs<string>(String);
/** A number. */
export const number = fieldStoredAs<number>(Number);
/** A moment, UTC in ms. */
export const date = fieldStoredAs<Date>(Date);
/** True or false. */
export const flag = fieldStoredAs<boolean>(Boolean);
/** A flag that is only ever set to true. */
export const mark = fieldStoredAs<true>(Boolean);

/** One of some words. */
export const oneOf = <V extends string>(): Field<V> => fieldStoredAs(String);

/** JSON and whatever else mongoose is not to look into. */
export const opaque = <V>(): Field<V> => fieldStoredAs(Schema.Types.Mixed);

/** A list, which mongoose adds empty to a document that it is to make. */
export const listOf = <V>({ storedAs }: Field<V>): Field<readonly V[]> => fieldStoredAs([storedAs]);

/** An object with fields of its own; one of them may be called `type`. */
export const nested = <F extends Fields>(fields: F): Field<DocumentOf<F>> =>
  fieldStoredAs(new Schema(definitionOf(fields), { _id: false, id: false, typeKey: '$type' }));

/** A field that documents may lack. */
export const optional = <V>(of: Field<V>): Field<V, true> => ({ storedAs: of.storedAs, isOptional: true });

/** A field that may be null. */
export const nullable = <V>({ storedAs }: Field<V>): Field<V | null> => fieldStoredAs(storedAs);

function definitionOf(fields: Fields): Record<string, StoredAs> {
  return Object.fromEntries(Object.entries(fields).map(([name, { storedAs }]) => [name, storedAs]));
}

/**
 * Options of every schema: mongoose refuses fields that it does not know, adds none, hydrates nothing that it reads, and builds
 * nothing on first use (`database/indexes.ts` builds collections and indexes at start). Commits, merges and erasures pass the
 * driver's `bulkWrite` instead, where the types of `write.ts` do that (docs/decisions/0012-mongoose-and-bulk-writes.md).
 */
const SCHEMA_OPTIONS = {
  strict: 'throw',
  versionKey: false,
  minimize: false,
  autoIndex: false,
  autoCreate: false,
  id: false,
  lean: true,
} as const;

/** What a read is narrowed to; mongoose wants every object in it to be `trusted`, but the native collection does not. */
export type Conditions<D> = {
  readonly [N in keyof D]?: Condition<NonNullable<D[N]>>;
} & {
  readonly $or?: readonly object[];
  readonly $and?: readonly object[];
  /** A field of an object in a field. */
  readonly [path: `${string}.${string}`]: unknown;
};

type Condition<V> = V | null | Comparison<V> | (V extends readonly (infer I)[] ? I : never);

interface Comparison<V> {
  readonly $in?: readonly (V | null)[];
  readonly $ne?: V | null;
  readonly $gt?: V;
  readonly $gte?: V;
  readonly $lt?: V;
  readonly $lte?: V;
  readonly $exists?: boolean;
  /** Of a text. */
  readonly $regex?: string;
  readonly $not?: Comparison<V>;
}

/** Which fields are read: those with 1, or all but those with 0. */
type Projection<D> = { readonly [N in keyof D]?: 0 | 1 | { readonly $slice: number } };
type Projected<D, P> =
  P extends Readonly<Record<string, 0>> ? Omit<D, keyof P> : Pick<D, keyof D & (keyof P | '_id')>;

/** A command that is sent by `exec`. */
interface Command<T> {
  exec(): Promise<T>;
}

/** A read of several documents; of them a part, in an order. */
interface Listing<D> extends Command<D[]> {
  sort(order: Readonly<Record<string, 1 | -1>>): this;
  skip(count: number): this;
  limit(count: number): this;
  setOptions(options: { readonly readConcern?: object }): this;
}

/** A read of one document, of those that fit the first in an order. */
interface Single<D> extends Command<D | null> {
  sort(order: Readonly<Record<string, 1 | -1>>): this;
}

/** How documents are changed; `$setOnInsert`: those that an upsert makes. */
type Change<D> = Update<D> & { readonly $setOnInsert?: Partial<D> };

interface Upsert {
  readonly upsert?: boolean;
  readonly setDefaultsOnInsert?: false;
}

/**
 * A collection as this room reads and changes it: a model of mongoose, of which the answers are documents as they are stored.
 * All join the transaction that they are called in; what goes by `collection`, the driver's own, needs its session.
 */
interface Collection<D> {
  readonly collection: mongo.Collection<D & { _id: string }>;
  find(conditions?: Conditions<D>): Listing<D>;
  find<const P extends Projection<D>>(conditions: Conditions<D>, fields: P): Listing<Projected<D, P>>;
  findOne(conditions: Conditions<D>): Single<D>;
  findOne<const P extends Projection<D>>(conditions: Conditions<D>, fields: P): Single<Projected<D, P>>;
  exists(conditions: Conditions<D>): Command<unknown>;
  distinct<N extends keyof D & string>(name: N, conditions?: Conditions<D>): Command<D[N][]>;
  countDocuments(conditions: Conditions<D>): Command<number>;
  estimatedDocumentCount(): Command<number>;
  aggregate<R>(pipeline: object[]): Command<R[]>;
  create(documents: readonly D[]): Promise<unknown>;
  insertMany(documents: readonly D[]): Promise<unknown>;
  updateOne(
    conditions: Conditions<D>,
    change: Change<D>,
    options?: Upsert,
  ): Command<{ readonly modifiedCount: number; readonly matchedCount: number }>;
  updateMany(conditions: Conditions<D>, change: Change<D>): Command<{ readonly modifiedCount: number }>;
  replaceOne(conditions: Conditions<D>, fields: Omit<D, '_id'>, options?: Upsert): Command<unknown>;
  deleteOne(conditions: Conditions<D>): Command<{ readonly deletedCount: number }>;
  deleteMany(conditions: Conditions<D>): Command<{ readonly deletedCount: number }>;
  findOneAndUpdate(
    conditions: Conditions<D>,
    change: Change<D>,
    options: { readonly returnDocument: 'after' },
  ): Command<D | null>;
  findOneAndDelete(
    conditions: Conditions<D>,
    options: { readonly projection: { readonly _id: 1 } },
  ): Command<Pick<D, keyof D & '_id'> | null>;
}

/**
 * Describes a collection once: from its fields follow the type of its documents (`DocumentOf`), the schema that mongoose checks
 * by, and typed reads. `kind`: of its documents, where it holds several.
 */
export function collection<F extends Fields>(
  name: CollectionName,
  fields: F,
  kind: string = name,
): Collection<DocumentOf<F>> {
  const schema: Schema = new Schema(definitionOf(fields), SCHEMA_OPTIONS);
  const stored: unknown = model(kind, schema, name);
  return stored as Collection<DocumentOf<F>>;
}
