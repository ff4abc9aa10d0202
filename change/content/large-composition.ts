import type { Violation } from '../../openehr/base/violation.js';
import type { AcceptedFinding } from '../../openehr/rm/lenient.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import type { DerivedContent } from '../../aql/index/derive.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { ContentValidation, CompositionRules } from './content.js';

/** The text of a template, and a name for it that no other text has. */
export interface TemplateText {
  readonly key: string;
  readonly opt: string;
  /** Texts of earlier revisions; absent: there are none. */
  readonly earlier?: readonly string[];
}

/** What a VERSION and its derived document need of a COMPOSITION whose tree is not at hand. */
export interface PreparedContent {
  /** Canonical JSON behind the attributes `_type` and `uid` of the root: `"name":…}`. */
  readonly tail: string;
  /** Made with any uid. */
  readonly derived: DerivedContent;
}

/** What validating a large COMPOSITION gives. */
export interface ValidatedLarge extends ContentValidation {
  /** null when there are violations. */
  readonly prepared: PreparedContent | null;
}

/** The attributes of a COMPOSITION that decide about its commit. */
export type CompositionRoot = Pick<
  PartialRm<'COMPOSITION'>,
  '_type' | 'uid' | 'archetype_details' | 'category'
>;

/**
 * A COMPOSITION that was read in another thread, since doing so here would keep every other request waiting. Only
 * the attributes of its root that decide about the commit are at hand.
 */
export class LargeComposition {
  readonly root: CompositionRoot;
  /** What the root lacks in every lifecycle state. */
  readonly missing: readonly Violation[];
  /** What reading it ignored or replaced. */
  readonly warnings: readonly string[];
  /** What lenient validation left out of it. */
  readonly leftOut: readonly AcceptedFinding[];
  /** Validates it in that thread. @throws too-large when that needs too much memory */
  readonly validate: (
    template: TemplateText,
    rules: CompositionRules,
    leafIndex: LeafIndex,
  ) => Promise<ValidatedLarge>;

  constructor(
    { root, missing, warnings, leftOut }: Omit<LargeComposition, 'validate'>,
    validate: LargeComposition['validate'],
  ) {
    this.root = root;
    this.missing = missing;
    this.warnings = warnings;
    this.leftOut = leftOut;
    this.validate = validate;
  }
}

/** The root of a COMPOSITION, for a `LargeComposition`. */
export function compositionRoot({
  _type,
  uid,
  archetype_details: details,
  category,
}: PartialRm<'COMPOSITION'>): CompositionRoot {
  return {
    _type,
    ...(uid !== undefined && { uid }),
    ...(details !== undefined && { archetype_details: details }),
    ...(category !== undefined && { category }),
  };
}
