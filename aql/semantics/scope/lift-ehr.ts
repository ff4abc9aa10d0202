import { aqlError } from '../../syntax/aql-error.js';
import type { ClassExpression, FromExpression } from '../../syntax/ast.js';
import { classesOf } from '../../syntax/walk.js';
import { counted } from '../../../openehr/base/work.js';

/** FROM with EHR in front of everything; `implicit` are the EHR classes that the text does not have. */
export interface EhrRooted {
  readonly from: FromExpression;
  readonly implicit: ReadonlySet<ClassExpression>;
}

/**
 * Brings FROM into the form that the rest reads: EHRs that the right-greedy CONTAINS put below another class
 * stand beside it again, and what has no EHR above gets an implicit one (docs/spec/aql.md#and-or-and-not-in-from,
 * boolean FROM and several EHR classes). @throws invalid for an EHR below OR or NOT CONTAINS of another class
 */
export function rootInEhr(from: FromExpression): EhrRooted {
  const implicit = new Set<ClassExpression>();
  return { from: withEhr(liftAll(from), implicit), implicit };
}

function withEhr(from: FromExpression, implicit: Set<ClassExpression>): FromExpression {
  if (hasEhrOnTop(from)) {
    if (from.kind === 'class') return from;
    return { ...from, operands: counted(from.operands).map((operand) => withEhr(operand, implicit)) };
  }
  const ehr: ClassExpression = {
    kind: 'class',
    className: 'EHR',
    variable: null,
    versions: null,
    predicate: null,
    contains: { negated: false, child: from },
    at: from.at,
  };
  implicit.add(ehr);
  return ehr;
}

function hasEhrOnTop(from: FromExpression): boolean {
  return from.kind === 'class' ? from.className === 'EHR' : counted(from.operands).some(hasEhrOnTop);
}

function liftAll(from: FromExpression): FromExpression {
  if (from.kind !== 'class') return { ...from, operands: counted(from.operands).map(liftAll) };
  const { expression, lifted } = liftFromClass(from);
  if (lifted.length === 0) return expression;
  return { kind: 'from-and', operands: [expression, ...counted(lifted).map(liftAll)], at: from.at };
}

interface Lifted<T> {
  readonly expression: T;
  readonly lifted: readonly FromExpression[];
}

function liftFromClass(from: ClassExpression): Lifted<ClassExpression> {
  if (from.contains === null) return { expression: from, lifted: [] };
  if (from.contains.negated) {
    refuseEhr(from.contains.child);
    return { expression: from, lifted: [] };
  }
  const { expression: child, lifted } = liftFromChild(from.contains.child);
  if (lifted.length === 0 && child === from.contains.child) return { expression: from, lifted };
  return { expression: { ...from, contains: child === null ? null : { negated: false, child } }, lifted };
}

function liftFromChild(child: FromExpression): Lifted<FromExpression | null> {
  if (child.kind === 'class')
    return child.className === 'EHR' ? { expression: child, lifted: [] } : liftFromClass(child);
  if (child.kind === 'from-or') {
    refuseEhr(child);
    return { expression: child, lifted: [] };
  }
  const parts = counted(child.operands).map((operand): Lifted<FromExpression | null> =>
    operand.kind === 'class' && operand.className === 'EHR'
      ? { expression: null, lifted: [operand] }
      : liftFromChild(operand),
  );
  const operands = counted(parts)
    .map(({ expression }) => expression)
    .filter((each) => each !== null);
  const lifted = counted(parts).flatMap((part) => part.lifted);
  const expression = operands.length > 1 ? { ...child, operands } : (operands[0] ?? null);
  return { expression, lifted };
}

/** EHR may only be the sole class there (which then matches nothing). */
function refuseEhr(child: FromExpression): void {
  if (child.kind === 'class') return;
  const ehr = counted([...classesOf(child)]).find(({ className }) => className === 'EHR');
  if (ehr !== undefined)
    throw aqlError(ehr.at, 'an EHR cannot stand below OR or NOT CONTAINS of another class');
}
