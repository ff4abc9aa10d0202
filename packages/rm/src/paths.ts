/** One step of a path: an attribute, and which of its values is meant. */
interface Step {
  readonly attribute: string;
  /** archetype_node_id: the code of a node, or an archetype id. */
  readonly node?: string;
  readonly name?: string;
  /** From 0. */
  readonly index?: number;
}

const STEP = /\/?([a-z_]\w*)(?:\[([^\]']*(?:'(?:[^'\\]|\\.)*')?[^\]']*)\])?/y;
const NAME = /^(?:([^,\s']+)\s*(?:,|\band\b)\s*)?(?:name\/value\s*=\s*)?'((?:[^'\\]|\\.)*)'$/;

/**
 * The values that a path leads to, from the object that it is relative to:
 * `valuesAt(composition, '/content[openEHR-EHR-OBSERVATION.blood_pressure.v2]/data/events/data/items[at0004]/value')`.
 * A step may name a node (`[at0004]`), a node with its name (`[at0004, 'Systolic']`, `[at0004 and
 * name/value='Systolic']`), or a position from 0 (`[0]`); without, it stands for all values of its attribute.
 * @throws SyntaxError where the path cannot be read, with its position
 */
export function valuesAt(root: unknown, path: string): unknown[] {
  let values: unknown[] = [root];
  for (const step of stepsOf(path)) values = values.flatMap((value) => valuesOf(value, step));
  return values;
}

/** The first value that a path leads to, or undefined. @throws SyntaxError as `valuesAt` */
export function valueAt(root: unknown, path: string): unknown {
  return valuesAt(root, path)[0];
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length && path !== '/') {
    const at = STEP.lastIndex;
    const match = at === 0 || path[at] === '/' ? STEP.exec(path) : null;
    if (match === null) throw new SyntaxError(`path ${path}: no step can be read at position ${at}`);
    steps.push(stepOf(match[1] ?? '', match[2]));
  }
  return steps;
}

function stepOf(attribute: string, predicate = ''): Step {
  const text = predicate.trim();
  if (/^\d+$/.test(text)) return { attribute, index: Number(text) };
  const named = NAME.exec(text);
  if (named === null) return text === '' ? { attribute } : { attribute, node: text };
  const name = (named[2] ?? '').replace(/\\(.)/g, '$1');
  return named[1] === undefined ? { attribute, name } : { attribute, node: named[1], name };
}

function valuesOf(value: unknown, step: Step): unknown[] {
  if (!isRecord(value) || !Object.hasOwn(value, step.attribute)) return [];
  const found = value[step.attribute];
  const all: unknown[] = Array.isArray(found) ? found : [found];
  if (step.index !== undefined) return all.slice(step.index, step.index + 1);
  return all.filter((one) => fits(one, step));
}

function fits(value: unknown, { node, name }: Step): boolean {
  if (node === undefined && name === undefined) return value !== undefined && value !== null;
  if (!isRecord(value)) return false;
  const nameOf = isRecord(value.name) ? value.name.value : undefined;
  return (node === undefined || value.archetype_node_id === node) && (name === undefined || nameOf === name);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every RM object in a value with its path, parents first. */
export function* rmObjects(value: unknown, path = ''): Generator<[path: string, object: { _type: string }]> {
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) yield* rmObjects(member, `${path}[${index}]`);
  } else if (isRecord(value)) {
    if (typeof value._type === 'string') yield [path === '' ? '/' : path, value as { _type: string }];
    for (const [name, member] of Object.entries(value)) yield* rmObjects(member, `${path}/${name}`);
  }
}
