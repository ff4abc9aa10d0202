import { memoized } from '../../openehr/base/memoized.js';
import { isLocatable } from '../../openehr/rm/model/classes.js';
import type { ColumnExpression } from '../syntax/ast.js';
import { classesBelow } from '../semantics/classes.js';
import type { PathUse } from '../semantics/scope-types.js';
import { literal, present, when } from './expression.js';
import type { Expression } from './expression.js';
import { constantOf, functionResult, valueOfPath } from './operand.js';
import type { ValueState } from './operand.js';
import { documentField } from './place.js';
import type { Place } from './place.js';

/** How the server turns the value of a column into a cell. */
export type CellKind =
  /** A primitive, or an object that holds no nested segment. */
  | 'plain'
  /** Canonical JSON text of a whole versioned object. */
  | 'text'
  /** An object with stubs of nested segments, which come in `segs`. */
  | 'object'
  /** An ORIGINAL_VERSION whose `data` is text. */
  | 'version';

/** A column before grouping and rendering. */
export interface Cell {
  readonly kind: CellKind;
  /** The value; of `text`: the version uid whose text it is. */
  readonly value: Expression;
  /** Kind `object`: `segs` of its document, and the id of that document. */
  readonly segs: string | null;
  readonly documentId: string | null;
}

const PLAIN = { kind: 'plain', segs: null, documentId: null } as const;

/** The cell of a column that is no aggregate. */
export function cellOf(
  expression: Exclude<ColumnExpression, { kind: 'aggregate' }>,
  state: ValueState,
): Cell {
  if (expression.kind === 'path') return pathCell(state.scope.useOf(expression), state);
  const constant = constantOf(expression, state);
  if (constant !== null)
    return { ...PLAIN, value: constant.kind === 'null' ? null : literal(constant.value) };
  if (expression.kind !== 'function') throw new TypeError('a value that is no function is constant');
  return { ...PLAIN, value: functionResult(expression, state).value };
}

function pathCell(use: PathUse, state: ValueState): Cell {
  const place = state.tree.places.get(use.alias.index);
  if (place === undefined) throw new TypeError('a variable was read before it was bound');
  const ref = valueOfPath(use.path, state);
  const documentId = documentField(place, '_id');
  if (isWholeRoot(use, place)) {
    const value =
      use.path.predicate === null && !use.alias.optional ? documentId : when(present(ref.raw), documentId);
    return { kind: 'text', value, segs: null, documentId };
  }
  if (use.alias.kind === 'version' && use.path.steps.length === 0)
    return { kind: 'version', value: ref.raw, segs: null, documentId: null };
  if (!canHoldNodes(ref.classes)) return { ...PLAIN, value: ref.raw };
  const end = use.steps[use.steps.length - 1];
  const segs = (end === undefined ? undefined : state.tree.nodes.get(end.node.id)?.segs) ?? '';
  return { kind: 'object', value: ref.raw, segs, documentId };
}

/** A whole versioned object: a COMPOSITION or EHR_STATUS of FROM, or `data` of a VERSION. */
function isWholeRoot({ alias, path }: PathUse, place: Place): boolean {
  const [first, second] = path.steps;
  if (alias.kind === 'version')
    return first?.attribute === 'data' && first.predicate === null && second === undefined;
  if (alias.kind !== 'object' || first !== undefined || place.object === null) return false;
  return alias.classes.every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS');
}

const canHoldNodes = memoized((classes: ReadonlySet<string>) =>
  [...classes].some((name) => isLocatable(name) || [...classesBelow(name)].some(isLocatable)),
);
