import { parseDateTime, parseDuration, type Iso8601Duration } from '../../base/iso8601.js';
import type { PlanNode } from './plan.js';

const TIME_PARTS = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})((?:[.,]\d+)?)(.*)$/;

/** The least offset from the origin of the HISTORY that a template asks of an event, null when it asks none. */
export function offsetOf(event: PlanNode | undefined): Iso8601Duration | null {
  const constraint = event?.node.constraint;
  if (constraint?.kind !== 'object') return null;
  const [offset] = constraint.attributes.find((attribute) => attribute.name === 'offset')?.children ?? [];
  if (offset?.kind !== 'object') return null;
  const [value] = offset.attributes.find((attribute) => attribute.name === 'value')?.children ?? [];
  if (value?.kind !== 'primitive' || value.item.kind !== 'duration') return null;
  const lower = value.item.range?.lower ?? null;
  return lower === null ? null : parseDuration(lower);
}

/** A date and time plus a duration, in the zone and with the fraction of the former; itself when it is partial. */
export function addDuration(dateTime: string, duration: Iso8601Duration): string {
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] =
    TIME_PARTS.exec(dateTime) ?? [];
  if (year === undefined || parseDateTime(dateTime) === null) return dateTime;
  const sign = duration.negative ? -1 : 1;
  const months = Number(year) * 12 + Number(month) - 1 + sign * (duration.years * 12 + duration.months);
  const lastDay = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate();
  const start = Date.UTC(
    Math.floor(months / 12),
    months % 12,
    Math.min(Number(day), lastDay),
    Number(hour),
    Number(minute),
    Number(second),
  );
  const { weeks, days, hours, minutes, seconds } = duration;
  const added = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + Math.trunc(seconds);
  return `${new Date(start + sign * added * 1000).toISOString().slice(0, 19)}${fraction}${zone}`;
}
