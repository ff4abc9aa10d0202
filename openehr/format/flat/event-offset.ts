import { parseDateTime, parseDuration, type Iso8601Duration } from '../../base/iso8601.js';
import type { Constraint } from '../../template/opt/constraint.js';
import type { PlanNode } from './plan.js';

const TIME_PARTS = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})((?:[.,]\d+)?)(.*)$/;

/** The least offset from the origin of the HISTORY that a template asks of an event, null when it asks none. */
export function leastOffset(event: PlanNode | undefined): Iso8601Duration | null {
  const offset = childConstraint(event?.node.constraint ?? null, 'offset');
  const value = childConstraint(offset, 'value');
  if (value?.kind !== 'primitive' || value.item.kind !== 'duration') return null;
  const lower = value.item.range?.lower ?? null;
  return lower === null ? null : parseDuration(lower);
}

function childConstraint(constraint: Constraint | null, name: string): Constraint | null {
  if (constraint?.kind !== 'object') return null;
  const attribute = constraint.attributes.find((candidate) => candidate.name === name);
  return attribute?.children[0] ?? null;
}

/** A date and time plus a duration, in the zone and with the fraction of the former; itself when it is partial. */
export function addDuration(dateTime: string, duration: Iso8601Duration): string {
  const parts = TIME_PARTS.exec(dateTime);
  if (parts === null || parseDateTime(dateTime) === null) return dateTime;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const sign = duration.negative ? -1 : 1;
  const months = year * 12 + month - 1 + sign * (duration.years * 12 + duration.months);
  const inYear = Math.floor(months / 12);
  const inMonth = months - inYear * 12;
  const lastDay = new Date(Date.UTC(inYear, inMonth + 1, 0)).getUTCDate();
  const start = Date.UTC(inYear, inMonth, Math.min(day, lastDay), hour, minute, second);
  const { weeks, days, hours, minutes, seconds } = duration;
  const added = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + Math.trunc(seconds);
  const sum = new Date(start + sign * added * 1000);
  return `${sum.toISOString().slice(0, 19)}${parts.slice(7).join('')}`;
}
