import { unreachable } from '../../openehr/base/errors.js';
import type { PresentTimeName } from '../syntax/functions.js';

/** The instant that a whole query sees as the present, and the server's zone. */
export interface Clock {
  readonly now: Date;
  /** Minutes east of UTC. */
  readonly offsetMinutes: number;
}

/** The clock of this machine at one moment, which knows whether a plan depends on it. */
export class WatchedClock implements Clock {
  isRead = false;

  constructor(readonly moment: Date) {}

  get now(): Date {
    this.isRead = true;
    return this.moment;
  }

  get offsetMinutes(): number {
    return -this.now.getTimezoneOffset();
  }
}

/** What CURRENT_DATE, CURRENT_TIME, CURRENT_DATE_TIME, NOW and CURRENT_TIMEZONE give (docs/spec/aql.md#functions). */
export function presentTime(name: PresentTimeName, { now, offsetMinutes }: Clock): string {
  const local = new Date(now.getTime() + offsetMinutes * 60_000).toISOString();
  const zone = zoneText(offsetMinutes);
  switch (name) {
    case 'CURRENT_DATE':
      return local.slice(0, 10);
    case 'CURRENT_TIME':
      return local.slice(11, 19);
    case 'CURRENT_TIMEZONE':
      return zone;
    case 'CURRENT_DATE_TIME':
    case 'NOW':
      return `${local.slice(0, 23)}${zone}`;
    default:
      return unreachable(name);
  }
}

function zoneText(offsetMinutes: number): string {
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
