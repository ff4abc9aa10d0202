import type {
  CodeItem,
  Comparison,
  IdentifiedPath,
  Literal,
  MatchesTest,
  ObjectPath,
  PathStep,
  Position,
  Predicate,
  ValueExpression,
} from '../syntax/ast.js';
import { renderValue } from '../syntax/render.js';
import { testsOf } from '../syntax/walk.js';
import type { Domain, Scope } from './scope-types.js';
import { classSet, pathType, typesAlong } from './typing.js';
import { literalIn } from './literal-value.js';
import { counted } from '../../openehr/base/work.js';

/** A literal that no value of the path it is compared with can equal. */
export interface Misfit {
  readonly at: Position;
  /** As written. */
  readonly literal: string;
  readonly path: string;
  readonly domains: ReadonlySet<Domain>;
  /** Whether the path holds nothing but dates, times or durations: then the literal is a mistake for certain. */
  readonly isImpossible: boolean;
}

const TEMPORAL: readonly Domain[] = ['instant', 'date', 'time', 'duration'];

/** Literals of WHERE and of predicates that are of none of the domains of their paths (docs/spec/aql.md#domains). */
export function misfits(scope: Scope): readonly Misfit[] {
  const found: Misfit[] = [];
  const add = (
    literal: Literal | CodeItem,
    path: IdentifiedPath | ObjectPath,
    classes: readonly string[],
  ) => {
    const misfit = misfitOf(literal, path, classSet(classes));
    if (misfit !== null) found.push(misfit);
  };
  const inPath = (path: IdentifiedPath, classes: readonly string[]): void => {
    const along = typesAlong(classSet(classes), path.steps);
    inPredicate(path.predicate, classes, add);
    counted(path.steps).forEach(({ predicate }: PathStep, index) => {
      if (predicate !== null) inPredicate(predicate, [...(along[index + 1]?.classes ?? [])], add);
    });
  };
  for (const { predicate, classes } of counted(scope.aliases)) inPredicate(predicate, classes, add);
  for (const { path, alias } of counted(scope.paths)) inPath(path, alias.classes);
  for (const test of testsOf(scope.query.where))
    if (test.kind === 'comparison' || test.kind === 'matches')
      inTest(test, (literal, path) => add(literal, path, scope.useOf(path).alias.classes));
  return found;
}

function inPredicate(
  predicate: Predicate | null,
  classes: readonly string[],
  add: (literal: Literal, path: ObjectPath, classes: readonly string[]) => void,
): void {
  for (const condition of counted(predicate?.alternatives.flat() ?? [])) {
    if (condition.kind !== 'predicate-comparison') continue;
    const { operand, path } = condition;
    if (operand.kind !== 'object-path' && operand.kind !== 'node-id') add(operand, path, classes);
  }
}

function inTest(
  test: Comparison | MatchesTest,
  add: (literal: Literal | CodeItem, path: IdentifiedPath) => void,
): void {
  const { left } = test;
  if (left.kind !== 'path') return;
  if (test.kind === 'matches') for (const item of counted(test.set.items)) add(item, left);
  else if (isLiteral(test.right)) add(test.right, left);
}

function isLiteral(value: ValueExpression): value is Exclude<Literal, { kind: 'null' }> {
  return value.kind !== 'path' && value.kind !== 'function' && value.kind !== 'null';
}

function misfitOf(
  literal: Literal | CodeItem,
  path: IdentifiedPath | ObjectPath,
  classes: ReadonlySet<string>,
): Misfit | null {
  const domains = pathType(classes, path.steps)?.domains;
  if (literal.kind === 'null' || domains === undefined || domains.size === 0) return null;
  if (counted([...domains]).some((domain) => isOfDomain(domain, literal))) return null;
  const isImpossible = counted([...domains]).every((domain) => TEMPORAL.includes(domain));
  const text = literal.kind === 'code' ? literal.code : renderValue(literal);
  return { at: literal.at, literal: text, path: renderValue(path), domains, isImpossible };
}

/** A DV_DATE has an order with a date-time too. */
function isOfDomain(domain: Domain, literal: Literal | CodeItem): boolean {
  if (literalIn(domain, literal) !== null) return true;
  return domain === 'date' && literalIn('instant', literal) !== null;
}
