import type { RootType } from '../../openehr/rm/root-type.js';
import type {
  ColumnExpression,
  IdentifiedPath,
  Position,
  PathStep,
  Predicate,
  BoundQuery,
} from '../syntax/ast.js';

/**
 * What a bound query means before anything runs: the contract between `resolveScope` and its two readers,
 * the translator and the reference evaluator.
 *
 * 1. `from` always starts with EHR: where the text has none, an implicit EHR alias stands in front of each
 *    largest part of FROM that names no EHR. An EHR that the right-greedy CONTAINS put below another class
 *    (`EHR a CONTAINS A AND EHR b CONTAINS B`) is lifted out, so EHR aliases are only joined by AND and OR
 *    at the top (docs/spec/aql.md#and-or-and-not-in-from, several EHR classes).
 * 2. Every class of FROM is an `Alias`, also one without variable. Paths name aliases, never text.
 * 3. Paths of SELECT, WHERE and ORDER BY are merged per alias into a cohesion tree (docs/spec/aql.md#rows): one
 *    `PathNode` is one choice of an element. EXISTS operands never add nodes, they only look at them.
 */
export interface Scope {
  readonly query: BoundQuery;
  readonly from: FromNode;
  /** In the order of the text; `aliases[i].index === i`; implicit ones at the end. */
  readonly aliases: readonly Alias[];
  /** Named aliases that may be used outside FROM, by variable. */
  readonly variables: ReadonlyMap<string, Alias>;
  readonly columns: readonly Column[];
  /** The different paths that take part in rows; `paths[i].index === i`. */
  readonly paths: readonly PathUse[];
  /** Root of the cohesion tree by alias index; undefined when no path starts there. */
  readonly trees: readonly (PathNode | undefined)[];
  /** ORDER BY with aliases looked up. */
  readonly orderBy: readonly OrderKey[];
  /** The use behind a path of SELECT, WHERE (not below EXISTS), ORDER BY or an aggregate. */
  useOf(path: IdentifiedPath): PathUse;
  /** How the operand of an EXISTS, `= NULL` or `!= NULL` is found. */
  existenceOf(path: IdentifiedPath): Existence;
  /** Whether aliases of templates show in it: in FROM, in a path, or in what is asked for existence. Absent: no. */
  readonly seesAliases?: true;
}

export type FromNode = FromClass | FromJoin;

/** A class of FROM with what it contains. */
export interface FromClass {
  readonly kind: 'class';
  readonly alias: Alias;
  readonly contains: { readonly negated: boolean; readonly child: FromNode } | null;
}

/** AND = cross product; OR = left-outer product (docs/spec/aql.md#and-or-and-not-in-from). */
interface FromJoin {
  readonly kind: 'and' | 'or';
  readonly operands: readonly FromNode[];
}

/** One class of FROM. */
export interface Alias {
  readonly index: number;
  /** As FROM writes it; null when unnamed. */
  readonly variable: string | null;
  /** Upper-cased, as in the text (may be abstract). */
  readonly className: string;
  readonly kind: 'ehr' | 'version' | 'object';
  /** The concrete classes that match: `['EHR']`, classes of VERSION, or RM classes. */
  readonly classes: readonly string[];
  /** Versioned objects whose data can hold it (kind `object`), or be it (kind `version`). */
  readonly rootTypes: readonly RootType[];
  /** Nearest class above. */
  readonly parent: Alias | null;
  /** Predicate of FROM; at-codes in it hold within the archetype of `parent` only. */
  readonly predicate: Predicate | null;
  /** Kind `version`: which versions are looked at; `predicate` = all those the predicate accepts. */
  readonly versions: 'latest' | 'all' | 'predicate';
  /**
   * Kind `ehr`: the only ehr_id it can have (docs/spec/aql.md#visibility), which also makes a not queryable
   * EHR visible.
   */
  readonly fixedEhrId: string | null;
  /** Not in the text. */
  readonly implicit: boolean;
  /** Below NOT CONTAINS: has no value outside it. */
  readonly negated: boolean;
  /** Below an OR: may be NULL. */
  readonly optional: boolean;
  /** Legal but can match nothing (OBSERVATION CONTAINS COMPOSITION). */
  readonly impossible: boolean;
  readonly at: Position;
}

/** One column of the RESULT_SET. */
export interface Column {
  /** Alias, else `#<index>`. */
  readonly name: string;
  /** As written (`e/ehr_status/X` as `s/X`), null for functions, aggregates and literals. */
  readonly path: string | null;
  readonly expression: ColumnExpression;
}

export interface OrderKey {
  /** A column's expression when `column` is set. */
  readonly expression: ColumnExpression;
  /** Index of the column that it names or repeats, null for a value that is not selected. */
  readonly column: number | null;
  readonly descending: boolean;
}

/** A path that takes part in rows. Paths written alike are one use. */
export interface PathUse {
  readonly index: number;
  readonly alias: Alias;
  readonly path: IdentifiedPath;
  /** `steps[0]` is the alias itself, `steps[n]` the n-th attribute. */
  readonly steps: readonly UsedStep[];
  /**
   * Index in `steps` of the deepest one where a LOCATABLE can stand, 0 without any: whether the path is there is decided
   * here, and what is missing below is NULL (docs/spec/aql.md#rows, rule 4).
   */
  readonly decisive: number;
  readonly type: PathType;
  /** What is read where nothing stands at the path, in this order: where a template once had it, or has it now. Absent: nothing. */
  readonly fallbacks?: readonly PathUse[];
  /** Of such a fallback: when it is read. */
  readonly instead?: Instead;
  /** Of a path with fallbacks, and of a fallback: the step, as `decisive`, by which it is known that something stands there. */
  readonly there?: number;
}

/** A fallback is read in COMPOSITIONs of its template, below the last choice that it shares with a path before it that is not there. */
interface Instead {
  readonly templateIds: readonly string[];
  /** The path that it stands for, and the fallbacks before it. */
  readonly before: readonly PathUse[];
}

export interface UsedStep {
  readonly node: PathNode;
  /**
   * The predicate of this path at this step, identity included. An element that fails it counts as
   * absent for this path, and stays chosen for the others (docs/spec/aql.md#rows, rule 3).
   */
  readonly filter: Predicate | null;
}

/**
 * One choice of an element. Its alternatives are the values of `attribute` in the parent's element that fit
 * `identity` and that at least one of `uses` goes through as far as its decisive step (docs/spec/aql.md#rows, rule 4);
 * if there is none, the one alternative is NULL. Children multiply independently of each other.
 */
export interface PathNode {
  /** Number within the query, parents before children. */
  readonly id: number;
  readonly alias: Alias;
  readonly parent: PathNode | null;
  /** Null at the alias. */
  readonly attribute: string | null;
  readonly identity: StepIdentity;
  /** Whether the class table allows several values here, in any of the classes that can stand here. */
  readonly multiple: boolean;
  /** Classes and primitive types that can stand here (concrete). */
  readonly classes: ReadonlySet<string>;
  readonly children: readonly PathNode[];
  /** Paths that go through or end here. */
  readonly uses: readonly PathUse[];
  /** Those that end here. */
  readonly ends: readonly PathUse[];
  /** true: nothing but fallbacks goes through it. */
  readonly isFallback?: true;
}

/** What makes steps over one attribute the same choice (docs/spec/aql.md#rows, rule 3). */
export type StepIdentity =
  | { readonly kind: 'base' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'code'; readonly nodeId: string; readonly name: string | null }
  | { readonly kind: 'archetype'; readonly archetypeId: string; readonly name: string | null };

/**
 * EXISTS is true when the path itself is used in rows and present there (`use`); else when, from the
 * deepest of `shared` whose element is not NULL, some element is found along the remaining steps. Filters of
 * the path hold on the shared part too. `shared[0]` is the alias; `rest` starts after the last of `shared`.
 */
export type Existence =
  | { readonly kind: 'use'; readonly use: PathUse }
  | {
      readonly kind: 'search';
      readonly alias: Alias;
      readonly path: IdentifiedPath;
      /** One entry per shared step. Without a tree at this alias: only the alias, `node` null. */
      readonly shared: readonly { readonly node: PathNode | null; readonly filter: Predicate | null }[];
      readonly rest: readonly PathStep[];
      /** Where else it may be found, in COMPOSITIONs of a template. Absent: nowhere. */
      readonly fallbacks?: readonly FallbackExistence[];
    };

/** The existence of a path by an alias. */
interface FallbackExistence {
  readonly templateIds: readonly string[];
  readonly existence: Extract<Existence, { readonly kind: 'search' }>;
}

/** One domain per kind of comparable value (docs/spec/aql.md#domains). */
export type Domain = 'number' | 'duration' | 'time' | 'date' | 'instant' | 'text' | 'boolean';

/** What the class table says of the end of a path. */
export interface PathType {
  /** Concrete RM classes and primitive types (names of rm/model) that can stand there. */
  readonly classes: ReadonlySet<string>;
  /** Domains of these; empty: values that never compare. */
  readonly domains: ReadonlySet<Domain>;
  /**
   * `version` = uid/value of a VERSION, COMPOSITION or EHR_STATUS, `folder` = of a FOLDER (root or nested),
   * `ehr` = ehr_id/value: strings with operand forms of their own (docs/spec/aql.md#version-uids).
   */
  readonly identifier: 'version' | 'folder' | 'ehr' | null;
}
