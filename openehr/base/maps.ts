/** Like `Map.groupBy`, which Node.js 20 lacks: keeps the order of insertion. */
export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Memoizes a pure function by the identity of its argument (WeakMap): computed once for each object. */
export function memoized<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let known = values.get(key);
    if (known === undefined) values.set(key, (known = { value: make(key) }));
    return known.value;
  };
}

/**
 * Memoizes an asynchronous function without arguments: concurrent callers share one call, its value is kept. A failure
 * is not kept: those who wait get it, the next caller calls again.
 */
export function memoizedAnswer<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | null = null;
  return () => {
    if (answer !== null) return answer;
    const asked = ask();
    answer = asked;
    asked.catch(() => (answer = null));
    return asked;
  };
}
