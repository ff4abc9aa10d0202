import type { ReportedTime } from '../../api/access.js';

/** Days of the reader's calendar as moments: from the beginning of the first to the end of the last. What is no day is left out. */
export function reportedTime({ from, to }: { readonly from: string; readonly to: string }): ReportedTime {
  const [first, last] = [momentOf(from, 0), momentOf(to, 1)];
  return { ...(first !== null && { from: first }), ...(last !== null && { to: last }) };
}

/** The beginning of a day, or of one that follows it. */
function momentOf(day: string, later: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return null;
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
