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

/** The names of the classes with instances that are the class or inherit from it. */
export type RmTypeNameOf<N extends RmClassName> = ConcreteClasses[N];
type ConcreteClasses = {
  [N in RmClassName]: { [C in RmTypeName]: N extends Lineages[C] ? C : never }[RmTypeName];
};

type Attributes = { [N in RmTypeName]: Entries[Lineages[N]]['attributes'][number] };
type RequiredOf<N extends RmTypeName> = Extract<Attributes[N], { readonly required: true }>;
type OptionalOf<N extends RmTypeName> = Extract<Attributes[N], { readonly required: false }>;

/** `validated`: what is mandatory is there. `read`: every attribute may be missing. */
type Stage = 'validated' | 'read';

type Primitive<T extends PrimitiveType> = T extends 'Boolean'
  ? boolean
  : T extends 'Integer' | 'Integer64' | 'Real'
    ? number
    : string;

type Single<T extends string, S extends Stage> = T extends PrimitiveType
  ? Primitive<T>
  : T extends RmClassName
    ? Instances[S][ConcreteClasses[T]]
    : never;

/** Lists are mutable arrays, so that every RM object is a `JsonObject`. */
type Value<A extends RmAttribute, S extends Stage> = A['multiple'] extends true
  ? Single<A['type'], S>[]
  : Single<A['type'], S>;

interface Instances {
  validated: { [N in RmTypeName]: Flat<Typed<N> & Mandatory<N> & Optional<OptionalOf<N>, 'validated'>> };
  read: { [N in RmTypeName]: Flat<Typed<N> & Optional<Attributes[N], 'read'>> };
}
type Typed<N extends RmTypeName> = { readonly _type: N };
type Mandatory<N extends RmTypeName> = {
  readonly [A in RequiredOf<N> as A['name']]: Value<A, 'validated'>;
};
type Optional<A extends RmAttribute, S extends Stage> = { readonly [E in A as E['name']]?: Value<E, S> };
/** One object type for an intersection. */
type Flat<T> = { [K in keyof T]: T[K] };

/**
 * A valid object of an RM class in canonical JSON, `_type` on every object: `Rm<'COMPOSITION'>`. Of a class with
 * descendants the union of all that have instances, told apart by `_type`: `Rm<'ENTRY'>`, `Rm<'DV_TEXT'>`.
 */
export type Rm<N extends RmClassName> = Instances['validated'][ConcreteClasses[N]];

/**
 * As `Rm`, but any attribute may be missing at any depth: what `readRm` gives (it checks types, not existence) and
 * what an incomplete COMPOSITION is. Every `Rm<N>` is a `PartialRm<N>`.
 */
export type PartialRm<N extends RmClassName> = Instances['read'][ConcreteClasses[N]];
