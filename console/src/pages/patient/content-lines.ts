import { unitText } from '../../record/values/units.js';
import type { ValueReader } from '../../record/values/value-reader.js';
import type { Trend } from './patient-data.js';
import { pointText } from './point-text.js';

/** Groups of values that a line has room for. */
const MOST_GROUPS = 3;

/**
 * What documents say, each in one line, by their uids: of each thing the newest value. Two values of one entry in one unit stand
 * as a pair, `137/79 mmHg`.
 */
export function contentLines(trends: readonly Trend[], reader: ValueReader): ReadonlyMap<string, string> {
  const said = new Map<string, Map<string, { name: string; texts: string[]; units: string }>>();
  // By archetype and node: systolic stands before diastolic.
  for (const { key, name, entry, units, points } of trends.toSorted((left, right) =>
    left.key < right.key ? -1 : 1,
  )) {
    const newest = new Map(points.map((point) => [point.uid, point]));
    for (const [uid, point] of newest) {
      const groups = said.get(uid) ?? new Map<string, { name: string; texts: string[]; units: string }>();
      said.set(uid, groups);
      const of = units === '' ? key : `${entry}|${units}`;
      const group = groups.get(of) ?? { name, texts: [], units };
      groups.set(of, group);
      group.texts.push(pointText(point, reader));
    }
  }
  return new Map([...said].map(([uid, groups]) => [uid, lineOf([...groups.values()])]));
}

function lineOf(
  groups: readonly { readonly name: string; readonly texts: readonly string[]; readonly units: string }[],
): string {
  const shown = groups.slice(0, MOST_GROUPS).map(({ name, texts, units }) => {
    const value = `${texts.slice(0, 2).join('/')} ${unitText(units)}`.trim();
    return texts.length === 2 ? value : `${name} ${value}`;
  });
  return shown.join(' · ') + (groups.length > MOST_GROUPS ? ' …' : '');
}
