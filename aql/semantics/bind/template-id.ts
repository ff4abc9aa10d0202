import { collapsedToken } from '../../../openehr/base/text.js';
import type { ComparisonOperator, Literal, PathStep, Placeholder } from '../../syntax/ast.js';

/** A text of a query. */
export type Text = Extract<Literal, { kind: 'string' }>;

/**
 * What a text may mean that is compared with the value of a TEMPLATE_ID: the xs:token that ids are, and the text as it stands,
 * which earlier releases stored. Any other operand means itself.
 */
export function templateIdReadings<T extends { readonly kind: string }>(
  steps: readonly PathStep<Placeholder>[],
  operator: ComparisonOperator,
  operand: T,
): readonly (T | Text)[] {
  if (!isText(operand) || !isTemplateId(steps) || (operator !== '=' && operator !== '!=')) return [operand];
  const value = collapsedToken(operand.value);
  return value === operand.value ? [operand] : [operand, { ...operand, value }];
}

function isText(operand: { readonly kind: string }): operand is Text {
  return operand.kind === 'string';
}

/** Only ARCHETYPED has an attribute of this name. */
function isTemplateId(steps: readonly PathStep<Placeholder>[]): boolean {
  return steps.at(-1)?.attribute === 'value' && steps.at(-2)?.attribute === 'template_id';
}
