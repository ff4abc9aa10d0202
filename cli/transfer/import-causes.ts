import type { FailedRecord, FailureCause } from './import-progress.js';

/** Causes that are told apart; what comes after them counts as one more. */
const MOST_CAUSES = 100;
/** Characters of a cause. */
const LONGEST_CAUSE = 200;
/** Causes that are shown. */
const SHOWN = 10;

/** Counts a failure among those with the same cause. */
export function noteCause(causes: FailureCause[], record: FailedRecord): void {
  const { status } = record;
  const text = causes.length < MOST_CAUSES ? causeOf(record) : 'another cause';
  const known = causes.find((cause) => cause.status === status && cause.text === causeOf(record));
  const other = known ?? causes.find((cause) => cause.status === status && cause.text === text);
  if (other !== undefined) other.count += 1;
  else causes.push({ status, text, count: 1, first: placeText(record) });
}

function placeText({ file, line, ehr_id: ehrId }: FailedRecord): string {
  return file ?? (line === undefined && ehrId !== undefined ? `EHR ${ehrId}` : `line ${line ?? '?'}`);
}

/** The message without what differs from record to record: ids, positions in lists, values. */
function causeOf({ message, validationErrors }: FailedRecord): string {
  const [first = message] = validationErrors ?? [];
  const more = (validationErrors?.length ?? 0) > 1 ? ' (and more)' : '';
  const general = first
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:::[^\s'"]+)?/gi, '…')
    .replace(/\[\d+\]/g, '[…]');
  return `${general.length > LONGEST_CAUSE ? `${general.slice(0, LONGEST_CAUSE - 1)}…` : general}${more}`;
}

/** The causes, the commonest first, one line each. */
export function causesText(causes: readonly FailureCause[]): string {
  const sorted = [...causes].sort((a, b) => b.count - a.count);
  const lines = sorted
    .slice(0, SHOWN)
    .map(({ count, status, text, first }) => `  ${count} × ${status} ${text}, first in ${first}\n`);
  const rest = sorted.slice(SHOWN).reduce((sum, { count }) => sum + count, 0);
  return `${lines.join('')}${rest > 0 ? `  ${rest} × other causes\n` : ''}`;
}
