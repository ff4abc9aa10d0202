import type { RmClassTable } from './classes.js';
import type { PrimitiveType, RmAttribute } from './define.js';

/*
 * The types of RM objects, derived from the class table: an attribute that is added there is known here at once.
 * Mapped types resolve member by member, so the circles of the reference model (CLUSTER in CLUSTER) end by themselves.
 */

type ClassEntry = RmClassTable[number];
type Entries = { [C in ClassEntry as C['name']]: C };

/** The name of a class of the reference model, abstract or not. */
export type RmClassName = ClassEntry['name'];

/** The name of a class that has instances: what `_type` can be. */
export type RmTypeName = Extract<ClassEntry, { readonly abstract: false }>['name'];

type Lineage<N> = N extends RmClassName ? N | Lineage<Entries[N]['parent']> : never;
type Lineages = { [C in RmTypeName]: Lineage<C> };

/* Children by parent: TypeScript makes a union of the entries that come to the same key. */
type Children = { [C in ClassEntry as C['parent'] & string]: C['name'] };
type Descendant<N> = N | (N extends keyof Children ? Descendant<Children[N]> : never);
type ConcreteClasses = { [N in RmClassName]: Extract<Descendant<N>, RmTypeName> };

/** The names of the classes with instances that are the class or inherit from it. */
export type RmTypeNameOf<N extends RmClassName> = ConcreteClasses[N];

type Attributes = { [N in RmTypeName]: Entries[Lineages[N]]['attributes'][number] };
type Required<N extends RmTypeName> = Extract<Attributes[N], { readonly required: true }>;
type Optional<N extends RmTypeName> = Extract<Attributes[N], { readonly required: false }>;

/* The attributes of a class by name, with `?` where the value may be missing. */
type ValidShape<N extends RmTypeName> = { [T in N as '_type']: T } & {
  [A in Required<N> as A['name']]: A;
} & { [A in Optional<N> as A['name']]?: A };
type ReadShape<N extends RmTypeName> = { [T in N as '_type']: T } & {
  [A in Attributes[N] as A['name']]?: A;
};

type Primitive<T extends PrimitiveType> = T extends 'Boolean'
  ? boolean
  : T extends 'Integer' | 'Integer64' | 'Real'
    ? number
    : string;

type Stage = 'valid' | 'read';

type Single<T extends string, S extends Stage> = T extends PrimitiveType
  ? Primitive<T>
  : T extends RmClassName
    ? ByClass[S][T]
    : never;

/** Lists are mutable arrays, so that every RM object is a `JsonObject`. */
type Value<A, S extends Stage> = A extends RmAttribute
  ? A['multiple'] extends true
    ? Single<A['type'], S>[]
    : Single<A['type'], S>
  : A;

/*
 * Members of mapped types on purpose, no generic aliases of their own: of such the compiler works out variances,
 * which costs it seconds here.
 */
type ValidObjects = {
  [N in RmTypeName]: { readonly [K in keyof ValidShape<N>]: Value<ValidShape<N>[K], 'valid'> };
};
type ReadObjects = {
  [N in RmTypeName]: { [K in keyof ReadShape<N>]: Value<ReadShape<N>[K], 'read'> };
};
interface ByClass {
  readonly valid: { [N in RmClassName]: ValidObjects[ConcreteClasses[N]] };
  readonly read: { [N in RmClassName]: ReadObjects[ConcreteClasses[N]] };
}

/**
 * A valid object of an RM class in canonical JSON, `_type` on every object: `Rm<'COMPOSITION'>`. Of a class with
 * descendants the union of all that have instances, distinguished by `_type`: `Rm<'ENTRY'>`, `Rm<'DV_TEXT'>`.
 */
export type Rm<N extends RmClassName> = ByClass['valid'][N];

/**
 * As `Rm`, but any attribute may be missing at any depth: what `readRm` gives (it checks types, not existence) and
 * what an incomplete COMPOSITION is; still to be changed. Every `Rm<N>` is a `PartialRm<N>`.
 */
export type PartialRm<N extends RmClassName> = ByClass['read'][N];

/** The name of an attribute of an RM class; of an abstract one an attribute of any of its descendants. */
export type RmAttributeName<N extends RmClassName> = Attributes[ConcreteClasses[N]]['name'];
