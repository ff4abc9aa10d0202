/** A pure function of an object as one that works out its value once for each object, as long as that lives. */
export function memoized<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let known = values.get(key);
    if (known === undefined) values.set(key, (known = { value: make(key) }));
    return known.value;
  };
}

/**
 * A question whose answer stays the same, asked once. A question that failed is asked again by the next caller;
 * those who asked meanwhile share its failure.
 */
export function idempotentAnswer<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | null = null;
  return () => {
    if (answer !== null) return answer;
    const asked = ask();
    answer = asked;
    asked.catch(() => (answer = null));
    return asked;
  };
}
