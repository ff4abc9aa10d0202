import type { ErrorCode } from '../../../../openehr/base/errors.js';
import type { JsonValue } from '../../../../openehr/base/json.js';
import type { TerminologyAnswer } from '../../../../aql/semantics/terminology.js';
import { ARCHETYPES } from '../../hilltop/compositions.js';
import { versionUid } from '../../hilltop/hilltop.js';

/** One query of the test groups, with what it must answer on the Hilltop data. */
export interface AqlCase {
  /** Number in the list of test groups, or a row of the feature table of docs/aql.md. */
  readonly group: number | string;
  readonly title: string;
  readonly aql: string;
  /** Parameters of a POST body. */
  readonly parameters?: Readonly<Record<string, JsonValue>>;
  /** Parameters of a query string. */
  readonly textParameters?: Readonly<Record<string, string | string[]>>;
  readonly options?: CaseOptions;
  readonly expect: Expectation;
}

export interface CaseOptions {
  readonly ehrId?: string;
  readonly asOf?: string;
  readonly fetch?: number;
  readonly offset?: number;
  readonly maxFetch?: number;
  readonly defaultFetch?: number;
  readonly subsumption?: boolean;
  /** Answers of the terminology service by the key of the question; absent: no service. */
  readonly terminology?: Readonly<Record<string, TerminologyAnswer>>;
}

/** `rows` in any order unless `ordered`; `columns` are names and paths. */
export type Expectation =
  | { readonly rows: readonly (readonly JsonValue[])[]; readonly ordered?: boolean }
  | { readonly count: number }
  | { readonly columns: readonly { readonly name: string; readonly path: string | null }[] }
  | { readonly error: ErrorCode; readonly message?: string };

/** Short names of the test groups. */
export const A = ARCHETYPES;
export const O = `OBSERVATION o[${A.bloodPressure}]`;
export const P = `OBSERVATION p[${A.pulse}]`;
export const EV = 'o/data[at0001]/events[at0006]';
export const SYS = `${EV}/data[at0003]/items[at0004]/value/magnitude`;
export const DIA = `${EV}/data[at0003]/items[at0005]/value/magnitude`;

/** The latest versions of all visible compositions: C1 to C5. */
export const CURRENT = [
  versionUid('C1', 1),
  versionUid('C2', 2),
  versionUid('C3', 1),
  versionUid('C4', 1),
  versionUid('C5', 1),
];

/** One column of values as rows. */
export const column = (...values: JsonValue[]): JsonValue[][] => values.map((value) => [value]);

/** A refusal. */
export const invalid = (message?: string): Expectation =>
  message === undefined ? { error: 'invalid' } : { error: 'invalid', message };
