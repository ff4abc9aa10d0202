import { parseDuration, type Iso8601Duration } from '../../base/iso8601.js';
import type { Interval, TemporalConstraint } from '../opt/constraint.js';
import type { WebTemplateInput, WebTemplateRange, WebTemplateValidation } from './web-template.js';

/** Bounds as they are, undefined when there are none. */
export function rangeOf<T extends number | string>(
  interval: Interval<T> | null,
): WebTemplateRange | undefined {
  if (interval === null || (interval.lower === null && interval.upper === null)) return undefined;
  const { lower, upper, lowerIncluded, upperIncluded } = interval;
  return {
    ...(lower === null ? {} : { min: lower, minOp: lowerIncluded ? '>=' : '>' }),
    ...(upper === null ? {} : { max: upper, maxOp: upperIncluded ? '<=' : '<' }),
  };
}

/** Integer bounds, made inclusive. */
export function integerRangeOf(interval: Interval<number> | null): WebTemplateRange | undefined {
  if (interval === null) return undefined;
  const { lower, upper, lowerIncluded, upperIncluded } = interval;
  return rangeOf({
    lower: lower === null || lowerIncluded ? lower : lower + 1,
    upper: upper === null || upperIncluded ? upper : upper - 1,
    lowerIncluded: true,
    upperIncluded: true,
  });
}

/** A validation of the members that are there, undefined when none is. */
export function validationOf(members: {
  range?: WebTemplateRange | undefined;
  precision?: WebTemplateRange | undefined;
  pattern?: string | undefined;
}): WebTemplateValidation | undefined {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

const DURATION_PARTS = [
  { suffix: 'year', letter: 'Y', inTime: false, part: 'years' },
  { suffix: 'month', letter: 'M', inTime: false, part: 'months' },
  { suffix: 'day', letter: 'D', inTime: false, part: 'days' },
  { suffix: 'week', letter: 'W', inTime: false, part: 'weeks' },
  { suffix: 'hour', letter: 'H', inTime: true, part: 'hours' },
  { suffix: 'minute', letter: 'M', inTime: true, part: 'minutes' },
  { suffix: 'second', letter: 'S', inTime: true, part: 'seconds' },
] as const;

type DurationPart = (typeof DURATION_PARTS)[number]['part'];

/**
 * INTEGER inputs of a DV_DURATION: the parts that the pattern allows, with their part of the range
 * (docs/spec/formats.md#inputs).
 */
export function durationInputs(constraint: TemporalConstraint | null): WebTemplateInput[] {
  const [date = '', time = ''] = (constraint?.pattern ?? 'PYMWDTHMS')
    .toUpperCase()
    .replace('P', '')
    .split('T');
  const rangeOfPart = partRanges(constraint?.range ?? null);
  const inputs = DURATION_PARTS.filter(({ letter, inTime }) => (inTime ? time : date).includes(letter)).map(
    ({ suffix, part }): WebTemplateInput => ({
      suffix,
      type: 'INTEGER',
      validation: { range: rangeOfPart(part) },
    }),
  );
  return withDefaultDuration(inputs, constraint?.assumedValue ?? null);
}

function partRanges(range: Interval<string> | null): (part: DurationPart) => WebTemplateRange {
  const lower = range?.lower == null ? null : parseDuration(range.lower);
  const upper = range?.upper == null ? null : parseDuration(range.upper);
  const isBounded = (bound: Iso8601Duration | null, text: string | null | undefined, part: DurationPart) =>
    bound !== null && (bound[part] > 0 || (bound.totalSeconds === 0 && namesPart(text ?? '', part)));
  return (part) => ({
    min: lower?.[part] ?? 0,
    minOp: range?.lowerIncluded === false && isBounded(lower, range.lower, part) ? '>' : '>=',
    ...(upper !== null && isBounded(upper, range?.upper, part)
      ? { max: upper[part], maxOp: range?.upperIncluded === false ? '<' : '<=' }
      : {}),
  });
}

/** Whether a duration names a part, if only as zero: `PT0S` names the seconds. */
function namesPart(duration: string, part: DurationPart): boolean {
  const [date = '', time = ''] = duration.toUpperCase().split('T');
  const named = DURATION_PARTS.find((candidate) => candidate.part === part);
  return named !== undefined && (named.inTime ? time : date).includes(named.letter);
}

/** The inputs of a DV_DURATION with a default, of which each takes its part; those without a part have none. */
export function withDefaultDuration(
  inputs: readonly WebTemplateInput[],
  text: string | null,
): WebTemplateInput[] {
  const duration = text === null ? null : parseDuration(text);
  return inputs.map((input) => {
    const part = DURATION_PARTS.find(({ suffix }) => suffix === input.suffix)?.part;
    if (duration === null || part === undefined || duration[part] === 0) return input;
    return { ...input, defaultValue: duration[part] };
  });
}
