import type { IndexField } from '../../index/document.js';
import { fieldRef } from '../../plan/expression.js';
import type { Expression, Field } from '../../plan/expression.js';
import type { Alias } from '../../semantics/scope-types.js';

/** Where the value of an alias stands in the pipeline's documents. */
export interface AliasBinding {
  readonly alias: Alias;
  /** Dotted field before the fields of the `aql` document that holds it: '' or `t3.`. */
  readonly document: string;
  /** Expression of the RM object; null for an EHR and a VERSION, whose attributes have places of their own. */
  readonly object: Field | null;
  /** Expression of the slot, null when there is none. */
  readonly slot: Field | null;
  /** Classes that it can have here. */
  readonly classes: ReadonlySet<string>;
}

/** A field of the `aql` document that an alias was found in, as an expression. */
export function documentField(binding: AliasBinding, field: IndexField): Field {
  return fieldRef(`${binding.document}${field}`);
}

/** Where the chosen element of a cohesion node stands: `expression` where `guard` holds, else NULL. */
export interface NodeBinding {
  readonly expression: Field;
  /** The object that it is an attribute of; null for one with a field of its own. */
  readonly parent: Field | null;
  readonly guard: Expression;
  /** `segs` of the document it is in. */
  readonly segs: Field;
}
