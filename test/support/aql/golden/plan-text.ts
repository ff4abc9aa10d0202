import { isList, isNode, type Expression } from '../../../../aql/plan/expression.js';
import type { LogicalPlan } from '../../../../aql/plan/logical-plan.js';
import { demandsOf, type DocumentsStep, type Step } from '../../../../aql/plan/steps.js';
import { print, Text } from './print.js';

/** A plan before any pass: one step after the other, and the row. */
export function planText({ collection, steps, row, order }: LogicalPlan): string {
  const lines = [
    `from ${collection}`,
    ...steps.map((step) => stepText(step, '')),
    `row ${print(readable(row))}`,
  ];
  if (order !== null) lines.push(`order ${print(order)}`);
  return lines.join('\n');
}

function stepText(step: Step, indent: string): string {
  const { kind, ...members } = step;
  if (step.kind === 'lookup') {
    const { as, from, localField, foreignField, firstOnly, variables, steps } = step;
    const join = { as, from, localField, foreignField, firstOnly, variables };
    const inner = steps.map((each) => `\n${stepText(each, `${indent}  `)}`);
    return `${indent}lookup ${print(readable(join), indent)}${inner.join('')}`;
  }
  if (step.kind === 'set') return `${indent}set ${step.field} = ${expressionText(step.value)}`;
  if (step.kind === 'filter') return `${indent}filter ${expressionText(step.condition)}`;
  if (step.kind === 'group')
    return `${indent}group ${print(readable({ id: step.id, ...step.accumulators }), indent)}`;
  return `${indent}${kind} ${print(step.kind === 'documents' ? documentsMembers(step) : members, indent)}`;
}

/** Only what is not as usual. */
function documentsMembers(step: DocumentsStep): object {
  const { ehr, exact, versions, asOf, isOfOneEhr } = step;
  return {
    ...(ehr !== null && { ehr }),
    ...(versions !== 'latest' && { versions }),
    ...(asOf !== null && { asOf }),
    ...(isOfOneEhr && { isOfOneEhr }),
    conditions: demandsOf(step),
    ...(exact.length > 0 && { exact }),
  };
}

/** The members of a document with their expressions as texts. */
function readable(members: Readonly<Record<string, Expression>>): Record<string, Text> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, new Text(expressionText(value))]),
  );
}

/** `x1.o` for fields, `$c.k` for variables, quoted literals, `eq(a, b)` for calls. */
function expressionText(expression: Expression): string {
  if (isNode(expression))
    switch (expression.kind) {
      case 'field':
        return expression.path;
      case 'variable':
        return `$${expression.name}${expression.path === '' ? '' : `.${expression.path}`}`;
      case 'literal':
        return print(expression.value);
      case 'call':
        return `${expression.operator.slice(1)}(${argumentsText(expression.args)})`;
    }
  if (isList(expression)) return `[${argumentsText(expression)}]`;
  if (typeof expression !== 'object' || expression === null) return String(expression);
  const members = Object.entries(expression).map(([name, value]) => `${name}: ${expressionText(value)}`);
  return `{ ${members.join(', ')} }`;
}

function argumentsText(args: Expression): string {
  return isList(args) ? args.map(expressionText).join(', ') : expressionText(args);
}
