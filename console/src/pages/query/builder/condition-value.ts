import { CdrError, parseAql } from '@everchart/aql';
import type { Condition, Operator } from './query-parts.js';

/** What stands in AQL, as one types it: a text without its quotes, where that leaves no doubt. */
export function shownValue(aql: string): string {
  const [, text] = /^'((?:[^'\\])*)'$/.exec(aql) ?? [];
  return text === undefined || isOther(text) ? aql : text;
}

/** What is typed as AQL: numbers, booleans, `$names`, paths and what is in quotes as they are, all else as a text. null: it is no value. */
export function readValue(typed: string, operator: Operator | ''): string | null {
  const text = typed.trim();
  if (operator === 'MATCHES') return setOf(text);
  if (isOther(text) && isValue(text, operator)) return text;
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** null: it is no set. One of nothing is one of the empty text, so that there is something to write over. */
function setOf(text: string): string | null {
  const tries = text === '' ? ["{''}"] : [text, `{${text}}`];
  return tries.find((each) => isValue(each, 'MATCHES')) ?? null;
}

/** The condition as what is typed and chosen makes it; null: that is no value, or the condition is so already. */
export function settled(condition: Condition, typed: string, operator: Operator | ''): Condition | null {
  const isSameOperator = operator === condition.operator;
  if (isSameOperator && typed === shownValue(condition.value)) return null;
  const value = operator === 'EXISTS' ? '' : readValue(typed, operator);
  if (value === null || (isSameOperator && value === condition.value)) return null;
  return { ...condition, operator, value };
}

/** Whether it would be read as something else than the text that it is. */
function isOther(text: string): boolean {
  return /^(?:-?[\d.]+(?:e[+-]?\d+)?|true|false|\$\w+|'.*'|".*"|\w+\/.+|\w+\(.*\)|\{.*\})$/is.test(text);
}

function isValue(value: string, operator: Operator | ''): boolean {
  try {
    parseAql(`SELECT a FROM EHR a WHERE a/b ${operator === '' ? '=' : operator} ${value}`);
    return true;
  } catch (error) {
    if (error instanceof CdrError) return false;
    throw error;
  }
}
