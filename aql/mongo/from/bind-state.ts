import { SEGMENT_FIELD } from '../../index/document.js';
import { firstClass } from '../../semantics/from-walk.js';
import type { Alias, FromNode } from '../../semantics/scope-types.js';
import { classSet } from '../../semantics/typing.js';
import type { Binder } from './contains.js';
import type { Visibility } from '../document/document-scope.js';
import type { AliasBinding } from '../path/binding.js';
import { fieldRef } from '../../plan/expression.js';
import type { Step } from '../../plan/steps.js';
import { counted } from '../../../openehr/base/work.js';

/** What binding FROM needs and collects. */
export interface FromState {
  readonly binder: Binder;
  /** Of the EHR that is being bound. */
  readonly visibility: Visibility;
  readonly bindings: Map<number, AliasBinding>;
  /** Fields that make the order of rows unambiguous. */
  readonly order: string[];
  /** Alias of the EHR that is being bound; null for what is joined to its first document. */
  readonly ehr: number | null;
}

/** One level of pipeline: where its bindings are seen from outside, and which field has the EHR id. */
export interface Level {
  readonly prefix: string;
  readonly ehrField: string;
  readonly state: FromState;
  /** Where what is below a root is folded; absent: it is unfolded at once. */
  readonly fold?: Fold | undefined;
}

/**
 * What a part of FROM finds in one document, kept as one array field in that document until the other parts of an AND have
 * been looked for: so each is looked for once and not once for each match of the others.
 */
export interface Fold {
  /** Where the arrays are unfolded. */
  readonly outer: Level;
  /** The array fields, so far. */
  readonly fields: string[];
}

/** The same level for documents that are joined to visible ones. */
export function joinedLevel(level: Level): Level {
  const { state } = level;
  const visibility = { ...state.visibility, joined: true };
  return { ...level, state: { ...state, ehr: null, visibility } };
}

/** The same level for a part of FROM that is only looked for: what it binds is not there to order rows by. */
export function unseenLevel(level: Level): Level {
  return { ...level, state: { ...level.state, order: [] } };
}

/** A name for a join that no other part of FROM has. */
export function joinName(letter: string, node: FromNode): string {
  return `${letter}${firstClass(node).alias.index}${node.kind === 'class' ? '' : 'g'}`;
}

/** Unfolds the arrays that lie in joined documents, `as`, or in the documents themselves. */
export function unfold({ fields, outer }: Fold, as: string | null): Step[] {
  return counted(fields).flatMap((field): Step[] => [
    ...(as === null ? [] : [{ kind: 'set', field, value: fieldRef(`${as}.${field}`) } as const]),
    unwind(field, false, outer),
  ]);
}

/** Keeps what has a member in one of the array fields, then one document per member; without: NULL. */
export function unwindAny(fields: readonly string[], level: Level): Step[] {
  const some: Step = {
    kind: 'match',
    match: { $or: counted(fields).map((field) => ({ [`${field}.0`]: { $exists: true } })) },
  };
  return [some, ...counted(fields).map((field) => unwind(field, true, level))];
}

/** One document per member of an array field. */
export function unwind(field: string, preserve: boolean, level: Level): Step {
  level.state.order.push(`${level.prefix}${field}i`);
  return { kind: 'unwind', field, preserve, index: `${field}i` };
}

/** Records where an alias is seen from outside. */
export function bindAlias(alias: Alias, slot: string, level: Level, prefix: string): void {
  level.state.bindings.set(alias.index, {
    alias,
    document: level.prefix,
    object: fieldRef(`${prefix}${slot}.${SEGMENT_FIELD.object}`),
    slot: fieldRef(`${prefix}${slot}`),
    classes: classSet(alias.classes),
  });
}
