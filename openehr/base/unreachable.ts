/** Marks a branch that the types exclude; reaching it is a defect. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
