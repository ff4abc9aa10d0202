/** A value of FLAT. */
export type FlatValue = string | number | boolean;

/** What a form holds: the keys of FLAT that it will send. Keys of no field travel along untouched. */
export type FlatValues = Readonly<Record<string, FlatValue>>;

/** The values with some set, or with undefined and empty texts taken away. */
export function withValues(
  values: FlatValues,
  changes: Readonly<Record<string, FlatValue | undefined>>,
): FlatValues {
  const next: Record<string, FlatValue> = { ...values };
  const added: string[] = [];
  let isTaken = false;
  for (const [key, value] of Object.entries(changes)) {
    const wasThere = Object.hasOwn(next, key);
    if (value === undefined || value === '') {
      isTaken ||= wasThere;
      Reflect.deleteProperty(next, key);
    } else {
      if (!wasThere) added.push(key);
      next[key] = value;
    }
  }
  const known = FILLED.get(values);
  if (known !== undefined && !isTaken)
    FILLED.set(next, added.length === 0 ? known : filledWith(known, added));
  return next;
}

/** What stays the same object as long as no key comes or goes. */
export function keysOf(values: FlatValues): object {
  return filledOf(values);
}

/** Whether a key is that of a place, of a part of it (`|unit`), or of something below it. */
function isAt(key: string, path: string): boolean {
  return key.startsWith(path) && (key.length === path.length || '|/'.includes(key.charAt(path.length)));
}

/** The places that a key is at or below: `a/b|unit` is below `a`, and at `a/b`. */
export function placesAbove(key: string): string[] {
  return [...key.matchAll(/[|/]|$/g)].map(({ index }) => key.slice(0, index));
}

/** Whether anything is given at a place or below it. */
export function isGiven(values: FlatValues, path: string): boolean {
  return filledOf(values).places.has(path);
}

/** How many occurrences of a repeated node there are: one more than the highest index. */
export function occurrencesIn(values: FlatValues, path: string): number {
  return filledOf(values).occurrences.get(path) ?? 0;
}

/** Which places of a form are filled. */
interface Filled {
  /** Each place at which, or below which, something is given. */
  readonly places: ReadonlySet<string>;
  /** By the path of a repeated node, without the index: how many occurrences. */
  readonly occurrences: ReadonlyMap<string, number>;
}

/** Memoizes: with every key that is typed, hundreds of fields ask the same values, of which mostly none is filled anew. */
const FILLED = new WeakMap<FlatValues, Filled>();

const NOTHING: Filled = { places: new Set(), occurrences: new Map() };

function filledOf(values: FlatValues): Filled {
  const known = FILLED.get(values);
  if (known !== undefined) return known;
  const filled = filledWith(NOTHING, Object.keys(values));
  FILLED.set(values, filled);
  return filled;
}

function filledWith(known: Filled, keys: readonly string[]): Filled {
  const places = new Set(known.places);
  const occurrences = new Map(known.occurrences);
  for (const key of keys) {
    for (const place of placesAbove(key)) places.add(place);
    for (const { index, 1: number } of key.matchAll(/:(\d+)(?=[|/]|$)/g)) {
      const path = key.slice(0, index);
      occurrences.set(path, Math.max(occurrences.get(path) ?? 0, Number(number) + 1));
    }
  }
  return { places, occurrences };
}

/** The values without all that is at a place and below it. */
export function withoutPlace(values: FlatValues, path: string): FlatValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !isAt(key, path)));
}

/** The values without one occurrence of a repeated node; those behind it move up. */
export function withoutOccurrence(values: FlatValues, path: string, index: number): FlatValues {
  const moved: Record<string, FlatValue> = {};
  for (const [key, value] of Object.entries(values)) {
    const rest = key.startsWith(`${path}:`) ? /^(\d+)(.*)$/s.exec(key.slice(path.length + 1)) : null;
    const at = rest === null ? -1 : Number(rest[1]);
    if (at === index) continue;
    moved[at > index ? `${path}:${at - 1}${rest?.[2] ?? ''}` : key] = value;
  }
  return moved;
}
