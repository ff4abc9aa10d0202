import { at, isObject, items, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import type { MessageKey } from '../../messages/en.js';
import { durationText } from './duration.js';
import type { Speech, ValueFlag, ValueText } from './value-reader.js';

const STATUSES: Readonly<Record<string, MessageKey>> = {
  HHH: 'status.HHH',
  HH: 'status.HH',
  H: 'status.H',
  N: 'status.N',
  L: 'status.L',
  LL: 'status.LL',
  LLL: 'status.LLL',
};
const MAGNITUDE_STATUS: Readonly<Record<string, string>> = { '=': '', '>=': '≥', '<=': '≤', '~': '≈' };

/** What any DV_ORDERED says besides its value: that it is not normal, how exact it is, what is normal. */
export function besides(value: Json, speech: Speech): Pick<ValueText, 'flag' | 'notes'> {
  const flag = flagOf(value, speech);
  const notes = [
    accuracyText(value),
    ...rangeNote(speech.t('range.normal'), at(value, 'normal_range'), value, speech),
    ...items(at(value, 'other_reference_ranges')).flatMap((other) =>
      rangeNote(textAt(other, 'meaning', 'value'), at(other, 'range'), value, speech),
    ),
  ].filter((note) => note !== '');
  return { ...(flag !== null && { flag }), ...(notes.length > 0 && { notes }) };
}

/** `≥` of a `magnitude_status`; nothing where the value is as exact as it says. */
export function magnitudeStatus(value: Json): string {
  const status = textAt(value, 'magnitude_status');
  return MAGNITUDE_STATUS[status] ?? status;
}

function flagOf(value: Json, { t }: Speech): ValueFlag | null {
  const code = textAt(value, 'normal_status', 'code_string');
  const key = STATUSES[code];
  if (code !== '') return { code, words: key === undefined ? code : t(key), isNormal: code === 'N' };
  const side = sideOf(value);
  if (side === 0) return null;
  return {
    code: side > 0 ? '↑' : '↓',
    words: t(side > 0 ? 'status.above' : 'status.below'),
    isNormal: false,
  };
}

/** 1: above the normal range of the same unit, -1: below it; 0: within it, or nothing that could be compared. */
function sideOf(value: Json): number {
  const range = at(value, 'normal_range');
  const magnitude = at(value, 'magnitude');
  if (!isObject(range) || typeof magnitude !== 'number') return 0;
  const limit = (name: string): number | null => {
    const bound = at(range, name);
    const isSame = textAt(bound, 'units') === textAt(value, 'units');
    const number = at(bound, 'magnitude');
    return isSame && typeof number === 'number' ? number : null;
  };
  const [lower, upper] = [limit('lower'), limit('upper')];
  if (upper !== null && (magnitude > upper || (magnitude === upper && range['upper_included'] === false)))
    return 1;
  if (lower !== null && (magnitude < lower || (magnitude === lower && range['lower_included'] === false)))
    return -1;
  return 0;
}

function accuracyText(value: Json): string {
  const accuracy = at(value, 'accuracy');
  if (isObject(accuracy)) return `± ${durationText(textAt(accuracy, 'value'))}`;
  // -1 says that it is not known, as saying nothing does.
  if (typeof accuracy !== 'number' || accuracy < 0) return '';
  return `± ${accuracy}${at(value, 'accuracy_is_percent') === true ? ' %' : ''}`;
}

function rangeNote(name: string, range: Json | undefined, value: Json, { say }: Speech): string[] {
  if (!isObject(range)) return [];
  const { text, unit } = say({ ...range, _type: 'DV_INTERVAL' });
  const isOther = unit !== undefined && unit !== say(plain(value)).unit;
  return [`${name} ${text}${isOther ? ` ${unit}` : ''}`.trim()];
}

/** The value alone: its ranges are said by whoever asks. */
function plain(value: Json): Json {
  return isObject(value) ? { ...value, normal_range: undefined, other_reference_ranges: undefined } : value;
}
