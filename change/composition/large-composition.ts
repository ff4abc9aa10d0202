import type { JsonObject } from '../../openehr/base/json.js';
import type { DerivedContent } from '../../aql/index/derive.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { CompositionFindings, CompositionRules } from './content.js';

/** The text of a template, and a name for it that no other text has. */
export interface TemplateText {
  readonly key: string;
  readonly opt: string;
}

/** What a VERSION and its derived document need of a COMPOSITION whose tree is not at hand. */
export interface PreparedContent {
  /** Canonical JSON behind the attributes `_type` and `uid` of the root: `"name":…}`. */
  readonly tail: string;
  /** Made with any uid. */
  readonly derived: DerivedContent;
}

/** What validating a large COMPOSITION gives. */
export interface ValidatedLarge extends CompositionFindings {
  /** null when there are violations. */
  readonly prepared: PreparedContent | null;
}

/**
 * A COMPOSITION that was read in another thread, since doing so here would keep every other request waiting. Only
 * the attributes of its root that decide about the commit are at hand.
 */
export class LargeComposition {
  /** `_type`, `uid`, `archetype_details`, `category`. */
  readonly root: JsonObject;
  /** What the root lacks in every lifecycle state. */
  readonly missing: readonly string[];
  /** What reading it ignored or replaced. */
  readonly warnings: readonly string[];
  /** Validates it in that thread. @throws too-large when that needs too much memory */
  readonly validate: (
    template: TemplateText,
    rules: CompositionRules,
    leafIndex: LeafIndex,
  ) => Promise<ValidatedLarge>;

  constructor(
    { root, missing, warnings }: Pick<LargeComposition, 'root' | 'missing' | 'warnings'>,
    validate: LargeComposition['validate'],
  ) {
    this.root = root;
    this.missing = missing;
    this.warnings = warnings;
    this.validate = validate;
  }
}

/** Attributes of the root that a `LargeComposition` has. */
export const ROOT_ATTRIBUTES: readonly string[] = ['_type', 'uid', 'archetype_details', 'category'];
