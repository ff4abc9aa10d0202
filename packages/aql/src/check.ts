import { CdrError } from '../../../openehr/base/errors.js';
import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { checkScope } from '../../../aql/semantics/check.js';
import { misfits } from '../../../aql/semantics/literal-fit.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import type { Scope } from '../../../aql/semantics/scope-types.js';
import {
  resolveTerminology,
  terminologyQuestions,
  type TerminologyAnswer,
} from '../../../aql/semantics/terminology.js';
import { unknownNames } from '../../../aql/result/unknown-names.js';
import { MAX_WARNINGS, warningsOf, type QueryWarning } from '../../../aql/result/warning.js';
import type { ParsedQuery, Position } from '../../../aql/syntax/ast.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import type { Catalogue } from './catalogue.js';
import { parameterUses, sampleOf, type ParameterUse } from './parameters.js';
import { endOfToken } from './tokens.js';

/** What is wrong with a query, or probably wrong, and where: lines and columns count from 1. */
export interface Diagnostic {
  /** `error`: the server answers 400; `warning`: it answers, with this in `meta.warnings`. */
  readonly severity: 'error' | 'warning';
  /** Code of the error or of the warning, as the server has it. */
  readonly code: string;
  /** As the server says it. */
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** Where the word ends that stands there. */
  readonly endLine: number;
  readonly endColumn: number;
  /** What was probably meant. */
  readonly nearest: string | null;
}

/** Settings of the server that decide what is wrong. */
export interface CheckOptions {
  /** `SYSTEM_ID` of the server; without, version ids of any system may stand in a query. */
  readonly systemId?: string | undefined;
  /** `AQL_ARCHETYPE_SUBSUMPTION` of the server: an id stands for its specialisations too. */
  readonly subsumption?: boolean | undefined;
}

/** A query that was read and checked. */
export interface CheckedQuery {
  readonly diagnostics: readonly Diagnostic[];
  readonly parameters: readonly ParameterUse[];
  /** Null when there are errors. */
  readonly scope: Scope | null;
}

/**
 * What the server would say of a query, without the values of its parameters: the same checks, messages, codes and
 * positions. Without a catalogue names of templates are not checked. What depends on values, on data and on the
 * database (archetypes that only data have, limits of pipelines) the server alone can find.
 */
export function diagnose(
  text: string,
  catalogue: Catalogue | null = null,
  options: CheckOptions = {},
): readonly Diagnostic[] {
  return checkQuery(text, catalogue, options).diagnostics;
}

/** As `diagnose`, with what was found out. */
export function checkQuery(
  text: string,
  catalogue: Catalogue | null = null,
  options: CheckOptions = {},
): CheckedQuery {
  let parameters: readonly ParameterUse[] = [];
  try {
    const parsed = parseAql(text);
    parameters = parameterUses(parsed, catalogue);
    const scope = scopeOf(parsed, parameters, options);
    const places = new Set(parameters.map(({ at }) => `${at.line}:${at.column}`));
    const limit = MAX_WARNINGS + parameters.length;
    const warnings = warningsFor(scope, catalogue, { ...options, limit }).filter(
      ({ at }) => !places.has(`${at.line}:${at.column}`),
    );
    const diagnostics = warnings
      .slice(0, MAX_WARNINGS)
      .map(({ code, message, nearest, at }) =>
        place(text, at, { severity: 'warning', code, message, nearest }),
      );
    return { diagnostics, parameters, scope };
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const [problem] = error.details.problems ?? [];
    const at = { line: problem?.line ?? 1, column: problem?.column ?? 1 };
    const { code, message } = error;
    const found = place(text, at, { severity: 'error', code, message, nearest: meant(message) });
    return { diagnostics: [found], parameters, scope: null };
  }
}

/** Fits wherever TERMINOLOGY or a URI may stand. */
const ANSWER: TerminologyAnswer = { kind: 'text', value: 'x' };

function scopeOf(
  parsed: ParsedQuery,
  parameters: readonly ParameterUse[],
  { systemId }: CheckOptions,
): Scope {
  const samples = parameters.map((use) => [use.name, sampleOf(use)] as const);
  const bound = bindParameters(parsed, queryParameters('json', samples));
  const answers = new Map(terminologyQuestions(bound).map(({ key }) => [key, ANSWER]));
  const scope = resolveScope(resolveTerminology(bound, answers));
  checkScope(scope, { systemId: systemId ?? null });
  return scope;
}

/** `limit` leaves room for what is said of samples: to find nearest names costs. */
function warningsFor(
  scope: Scope,
  catalogue: Catalogue | null,
  { subsumption = false, limit }: CheckOptions & { readonly limit: number },
): readonly QueryWarning[] {
  const isKnown = catalogue !== null && catalogue.size > 0;
  const unknown = isKnown ? unknownNames(scope, catalogue.vocabulary(), { subsumption, limit }) : [];
  const certain = unknown.filter(({ kind }) => kind !== 'node' || catalogue?.isExact === true);
  return warningsOf(certain, misfits(scope), limit);
}

function meant(message: string): string | null {
  return /; did you mean (\S+)\?$/.exec(message)?.[1] ?? null;
}

function place(
  text: string,
  { line, column }: Position,
  found: Pick<Diagnostic, 'severity' | 'code' | 'message' | 'nearest'>,
): Diagnostic {
  return { ...found, line, column, ...endOfToken(text, line, column) };
}
