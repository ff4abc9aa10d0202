import type { JsonObject } from '../../openehr/base/json.js';
import type { Misfit } from '../semantics/literal-fit.js';
import type { UnknownName } from './unknown-names.js';
import type { Position } from '../syntax/ast.js';
import { counted } from '../../openehr/base/work.js';

/** Warnings that one answer has at most. */
export const MAX_WARNINGS = 10;

/** What in a query is probably a mistake, though it can be answered (docs/spec/aql.md#warnings). */
export interface QueryWarning {
  readonly code: 'unknown_archetype' | 'unknown_node' | 'unknown_template' | 'type_mismatch';
  readonly message: string;
  readonly nearest: string | null;
  readonly at: Position;
  /** What the message names. */
  readonly names: Readonly<Record<string, string>>;
}

/** The warnings of a query in the order of its text, `limit` at most. */
export function warningsOf(
  unknown: readonly UnknownName[],
  misfits: readonly Misfit[],
  limit = MAX_WARNINGS,
): readonly QueryWarning[] {
  const all = [...counted(unknown).map(ofName), ...counted(misfits).map(ofMisfit)];
  counted(all).sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  return all.slice(0, limit);
}

/** The warning as `meta` has it. */
export function warningObject({ code, message, nearest, at }: QueryWarning): JsonObject {
  return { code, line: at.line, column: at.column, message, ...(nearest === null ? {} : { nearest }) };
}

function ofName({ kind, name, archetype, nearest, at }: UnknownName): QueryWarning {
  const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
  const inArchetype = archetype === null ? '' : ` in ${archetype}`;
  const message = `no stored template ${VERB[kind]} ${name}${inArchetype}${meant}`;
  return { code: `unknown_${kind}`, message, nearest, at, names: { name, archetype: archetype ?? '' } };
}

const VERB = { archetype: 'has the archetype', node: 'has the node', template: 'is named' } as const;

function ofMisfit({ literal, path, domains, at }: Misfit): QueryWarning {
  const all = [...domains].join(' or ');
  const message = `${literal} and ${path}, whose values are of the domain ${all}, are never equal`;
  return { code: 'type_mismatch', message, nearest: null, at, names: { literal, path, domains: all } };
}
