import { at, isObject } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import type { Speech, ValueText } from './value-reader.js';

/** DV_INTERVAL: `5 – 10`, `> 5 – 10` where 5 is not in it, `≥ 5` where it has no end. */
export function saidInterval(value: Json, { say, t }: Speech): ValueText {
  const [lower, upper] = [endOf(value, 'lower', say), endOf(value, 'upper', say)];
  const ends = [lower, upper].filter((end) => end !== null);
  if (ends.length === 0) return { text: t('range.any') };
  const units = new Set(ends.map(({ said }) => said.unit));
  const [unit] = units;
  // Both ends say their unit where it is not the same.
  const number = ({ said }: End): string => said.text + (units.size > 1 ? ` ${said.unit ?? ''}` : '');
  const notes = [...new Set(ends.flatMap(({ said }) => said.notes ?? []))];
  return {
    text: textOf(lower, upper, number),
    isNumber: ends.some(({ said }) => said.isNumber === true),
    ...(units.size === 1 && unit !== undefined && { unit }),
    ...(notes.length > 0 && { notes }),
  };
}

interface End {
  readonly said: ValueText;
  /** Whether the limit is in the interval. */
  readonly isIncluded: boolean;
}

function textOf(lower: End | null, upper: End | null, number: (end: End) => string): string {
  const above = lower === null ? '' : `${lower.isIncluded ? '' : '> '}${number(lower)}`;
  const below = upper === null ? '' : `${upper.isIncluded ? '' : '< '}${number(upper)}`;
  if (upper === null) return lower?.isIncluded === true ? `≥ ${above}` : above;
  if (lower === null) return upper.isIncluded ? `≤ ${below}` : below;
  return `${above} – ${below}`;
}

function endOf(value: Json, name: string, say: Speech['say']): End | null {
  const limit = at(value, name);
  if (!isObject(limit) || at(value, `${name}_unbounded`) === true) return null;
  return { said: say(limit), isIncluded: at(value, `${name}_included`) !== false };
}
