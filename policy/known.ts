import type { Action, Subject } from './subject.js';

/** For whom and what a policy is asked. */
export interface Request {
  readonly subject: Subject;
  readonly action: Action;
  /** true: he has stated that it is an emergency, and may. docs/access.md#emergency-access */
  readonly isEmergency?: boolean;
}

/** A name of something, such as `Ehr::"7d44b88c-4199-4bad-97dc-d78268e01398"`. */
export interface EntityName {
  readonly entity: string;
  readonly id: string;
}

/** A value that does not depend on the object: of the policy, of who asks, or of what he wants. */
export type Known = string | number | boolean | EntityName | { readonly time: number } | readonly Known[];

/** Whether two known values are equal; sets are, whatever the order of their members. */
export function isEqual(one: Known, other: Known): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: Known): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join()}]`;
  const named = value as Exclude<typeof value, readonly Known[]>;
  return 'time' in named ? `t${named.time}` : `e${JSON.stringify([named.entity, named.id])}`;
}

/** Whether a set has a member. */
export function hasMember(set: readonly Known[], member: Known): boolean {
  return set.some((each) => isEqual(each, member));
}

/** Of `YYYY-MM-DD`, or with `Thh:mm:ss[.SSS]` and `Z` or `±hhmm`: the forms that Cedar reads. */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{3}))?(?:Z|([+-])(\d\d)(\d\d)))?$/;

/** ms since 1970 of a text that Cedar takes for a `datetime`; null for others. */
export function timeOf(text: string): number | null {
  const found = DATE_TIME.exec(text);
  if (found === null) return null;
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    ms = '0',
    sign,
    hours = '0',
    minutes = '0',
  ] = found;
  const local = new Date(0);
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute), Number(second), Number(ms));
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return local.getTime() - (sign === '-' ? -offset : offset);
}

/** Words of a subject that a policy may ask for; undefined where he has none. */
export function subjectValue(subject: Subject, name: string): Known | undefined {
  const values: Readonly<Record<string, Known | undefined>> = { ...subject };
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** A value that the schema says is a text. */
export function knownText(value: Known): string {
  if (typeof value !== 'string') throw new TypeError('a valid policy has a text here');
  return value;
}
