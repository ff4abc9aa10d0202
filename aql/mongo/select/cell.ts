import { FIELD } from '../../index/document.js';
import { memoized } from '../../../openehr/base/maps.js';
import { isLocatable } from '../../../openehr/rm/model/classes.js';
import type { ColumnExpression } from '../../syntax/ast.js';
import { classesBelow } from '../../semantics/classes.js';
import type { PathUse } from '../../semantics/scope-types.js';
import { literal, present, when } from '../../plan/expression.js';
import type { Expression, Field } from '../../plan/expression.js';
import type { CellKind } from '../../plan/logical-plan.js';
import { constantOf, functionResult, valueOfPath } from '../path/operand.js';
import type { ValueState } from '../path/operand.js';
import { documentField } from '../path/binding.js';
import type { AliasBinding } from '../path/binding.js';
import { counted } from '../../../openehr/base/work.js';

/** A column before grouping and rendering. */
export interface Cell {
  readonly kind: CellKind;
  /** The value; of `text`: the version uid whose text it is. */
  readonly value: Expression;
  /** Kind `object`: `segs` of its document, and the id of that document. */
  readonly segs: Field | null;
  readonly documentId: Field | null;
}

const PLAIN = { kind: 'plain', segs: null, documentId: null } as const;

/** A column that is no aggregate. */
export type RowValue = Exclude<ColumnExpression, { kind: 'aggregate' }>;

/** The cell of a column that is no aggregate. */
export function cellOf(expression: RowValue, state: ValueState): Cell {
  if (expression.kind === 'path') return pathCell(state.scope.useOf(expression), state);
  const constant = constantOf(expression, state);
  if (constant !== null)
    return { ...PLAIN, value: constant.kind === 'null' ? null : literal(constant.value) };
  if (expression.kind !== 'function') throw new TypeError('a value that is no function is constant');
  return { ...PLAIN, value: functionResult(expression, state).value };
}

/** The kind of the cell of a column that is no aggregate. */
export function cellKindOf(expression: RowValue, { scope, tree }: ValueState): CellKind {
  if (expression.kind !== 'path') return 'plain';
  const use = scope.useOf(expression);
  const binding = tree.bindings.get(use.alias.index);
  return binding === undefined ? 'plain' : pathKind(use, binding);
}

function pathKind(use: PathUse, binding: AliasBinding): Exclude<CellKind, 'total'> {
  if (isWholeRoot(use, binding)) return 'text';
  if (use.alias.kind === 'version' && use.path.steps.length === 0) return 'version';
  return canHoldNodes(use.type.classes) ? 'object' : 'plain';
}

function pathCell(use: PathUse, state: ValueState): Cell {
  const binding = state.tree.bindings.get(use.alias.index);
  if (binding === undefined) throw new TypeError('a variable was read before it was bound');
  const { raw } = valueOfPath(use.path, state);
  const documentId = documentField(binding, FIELD.versionUid);
  switch (pathKind(use, binding)) {
    case 'text': {
      const isAlways = use.path.predicate === null && !use.alias.optional;
      return {
        kind: 'text',
        value: isAlways ? documentId : when(present(raw), documentId),
        segs: null,
        documentId,
      };
    }
    case 'version':
      return { kind: 'version', value: raw, segs: null, documentId: null };
    case 'plain':
      return { ...PLAIN, value: raw };
    case 'object': {
      const end = use.steps[use.steps.length - 1];
      const segs =
        (end === undefined ? undefined : state.tree.nodes.get(end.node.id)?.segs) ??
        documentField(binding, FIELD.segments);
      return { kind: 'object', value: raw, segs, documentId };
    }
  }
}

/** A whole versioned object: a COMPOSITION or EHR_STATUS of FROM, or `data` of a VERSION. */
function isWholeRoot({ alias, path }: PathUse, binding: AliasBinding): boolean {
  const [first, second] = path.steps;
  if (alias.kind === 'version')
    return first?.attribute === 'data' && first.predicate === null && second === undefined;
  if (alias.kind !== 'object' || first !== undefined || binding.object === null) return false;
  return counted(alias.classes).every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS');
}

const canHoldNodes = memoized((classes: ReadonlySet<string>) =>
  counted([...classes]).some(
    (name) => isLocatable(name) || counted([...classesBelow(name)]).some(isLocatable),
  ),
);
