import type { WebTemplateRange } from '@everchart/client';
import { instantOf } from '../record/values/instant.js';
import type { FormPart } from './parts.js';
import { timeRules } from './time-form.js';
import { fitsPattern } from './text-pattern.js';
import type { FlatValue } from './values.js';

/** What a value is not: within its range, a date or time of which as much is written as is asked for, or of its pattern. */
type Breach = 'range' | 'time' | 'pattern';

/** What the template asks of a part that its value breaks, as far as it is seen without the server; null: nothing. */
export function breachOf({ input, range, pattern }: FormPart, value: FlatValue | undefined): Breach | null {
  if (value === undefined || value === '') return null;
  if (input === 'number' || input === 'integer') return isWithin(Number(value), range) ? null : 'range';
  if (input !== 'date' && input !== 'time' && input !== 'datetime')
    return pattern === undefined || fitsPattern(String(value), pattern) !== false ? null : 'pattern';
  return isSuch(String(value), input, pattern) ? null : 'time';
}

function isWithin(value: number, { min = '', minOp, max = '', maxOp }: WebTemplateRange = {}): boolean {
  const [least, most] = [Number(min), Number(max)];
  const isAbove = min === '' || (minOp === '>' ? value > least : value >= least);
  return isAbove && (max === '' || (maxOp === '<' ? value < most : value <= most));
}

function isSuch(text: string, input: 'date' | 'time' | 'datetime', pattern: string | undefined): boolean {
  const instant = instantOf(text, input === 'time' ? 'time' : 'date-time');
  if (instant === null) return false;
  const count = instant.date.length + instant.time.length;
  const rules = timeRules(input, pattern);
  if (count > rules.length) return false;
  return rules.every((rule, index) =>
    index < count ? rule.toUpperCase() !== 'XX' : /^(?:\?\?|XX)$/i.test(rule),
  );
}
