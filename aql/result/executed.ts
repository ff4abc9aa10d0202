import { FIELD } from '../index/document.js';
import { indexedField } from '../index/indexed-paths.js';
import type {
  ClassExpression,
  Comparison,
  Condition,
  FromExpression,
  PathStep,
  Predicate,
  PredicateComparison,
  BoundQuery,
} from '../syntax/ast.js';
import type { Page } from '../semantics/page.js';
import { renderAql } from '../syntax/render.js';
import { mapPredicates } from '../syntax/walk.js';
import { counted } from '../../openehr/base/work.js';

/**
 * `_executed_aql` of a bound query: equality on `e/ehr_id/value` or `c/uid/value` stands in the predicate of its
 * class, the request's fetch and offset follow as LIMIT and OFFSET (docs/spec/aql.md#executed-aql).
 */
export function executedAql(query: BoundQuery, page: Pick<Page, 'appended'>): string {
  const moved = movedConditions(query.where, query.from);
  const from =
    moved.size === 0
      ? query.from
      : mapPredicates(query.from, (each) => predicateWith(each, [...moved.values()]));
  const where = moved.size === 0 ? query.where : withoutConditions(query.where, new Set(moved.keys()));
  const text = renderAql({ ...query, from, where });
  if (page.appended === null) return text;
  const { limit, offset } = page.appended;
  return `${text}${limit === null ? '' : ` LIMIT ${limit}`} OFFSET ${offset}`;
}

interface Move {
  readonly variable: string;
  readonly condition: PredicateComparison;
}

/** The fields that identify an EHR and a COMPOSITION. */
const IDENTITY = { EHR: FIELD.ehrId, COMPOSITION: FIELD.versionUid } as const;

function movedConditions(where: Condition | null, from: FromExpression): ReadonlyMap<Condition, Move> {
  const conditions = where === null ? [] : where.kind === 'and' ? where.operands : [where];
  const classes = alwaysBoundClasses(from);
  const moves = new Map<Condition, Move>();
  for (const each of counted(conditions)) {
    if (each.kind !== 'comparison') continue;
    const move = moveOf(each, classes);
    if (move !== null) moves.set(each, move);
  }
  return moves;
}

function moveOf(comparison: Comparison, classes: ReadonlyMap<string, ClassExpression>): Move | null {
  const { left, operator, right, at } = comparison;
  if (operator !== '=' || left.kind !== 'path' || right.kind !== 'string' || left.predicate !== null)
    return null;
  const { variable } = left;
  const target = classes.get(variable);
  if (target === undefined || !isIdentity(target.className, left.steps)) return null;
  if ((target.predicate?.alternatives.length ?? 0) > 1) return null;
  const condition: PredicateComparison = {
    kind: 'predicate-comparison',
    path: { kind: 'object-path', steps: left.steps, at },
    operator,
    operand: right,
    at,
  };
  return { variable, condition };
}

function isIdentity(owner: string, steps: readonly PathStep[]): boolean {
  if (owner !== 'EHR' && owner !== 'COMPOSITION') return false;
  const isPlain = counted(steps).every(({ predicate }) => predicate === null);
  return isPlain && indexedField(owner, steps) === IDENTITY[owner];
}

/** Classes that every row has: neither below OR nor below NOT CONTAINS. */
function alwaysBoundClasses(from: FromExpression): ReadonlyMap<string, ClassExpression> {
  const found = new Map<string, ClassExpression>();
  const visit = (each: FromExpression): void => {
    if (each.kind !== 'class') {
      if (each.kind === 'from-and') counted(each.operands).forEach(visit);
      return;
    }
    if (each.variable !== null) found.set(each.variable, each);
    if (each.contains !== null && !each.contains.negated) visit(each.contains.child);
  };
  visit(from);
  return found;
}

function predicateWith(
  { predicate, variable, at }: ClassExpression,
  moves: readonly Move[],
): Predicate | null {
  const added = counted(moves)
    .filter((move) => move.variable === variable)
    .map(({ condition }) => condition);
  if (added.length === 0) return predicate;
  return { kind: 'predicate', alternatives: [[...(predicate?.alternatives[0] ?? []), ...added]], at };
}

function withoutConditions(where: Condition | null, moved: ReadonlySet<Condition>): Condition | null {
  if (where === null || moved.has(where)) return null;
  if (where.kind !== 'and') return where;
  const operands = counted(where.operands).filter((each) => !moved.has(each));
  const [first, ...others] = operands;
  if (first === undefined) return null;
  return others.length === 0 ? first : { ...where, operands };
}
