/** One step of a path that an upgrade moves from or to. */
export interface AliasStep {
  readonly attribute: string;
  readonly nodeId: string | null;
  /** Where it alone tells nodes of one id apart. */
  readonly name: string | null;
  readonly names: readonly string[];
}

/** Two paths of a template that queries see as one. */
export interface PathAlias {
  /** Id of the template, as it is stored and as the xs:token that it is. */
  readonly templateIds: readonly string[];
  /** Archetype of the COMPOSITION. */
  readonly archetypeId: string;
  readonly from: readonly AliasStep[];
  readonly to: readonly AliasStep[];
  readonly renames: boolean;
}
