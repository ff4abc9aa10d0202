/** A pure function of an object as one that works out its value once for each object, as long as that lives. */
export function remembered<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let known = values.get(key);
    if (known === undefined) values.set(key, (known = { value: make(key) }));
    return known.value;
  };
}
