// Made by `everchart codegen templates`. What the modules beside it share.

export type Primitive = string | number | boolean;

/** FLAT: paths of the web template with their values. */
export type Flat = Record<string, Primitive>;

/** Keys of FLAT that the template has no node for, as they follow the path of the node: '/_uid', '/_normal_range/lower|magnitude'. */
export interface Raw {
  readonly [key: `/${string}` | `|${string}`]: Primitive;
}

/** A value, alone or with raw keys beside it. */
export type Value<T> = T | (Raw & { readonly $value: T });

/** A value of a data type without a form of its own here: by suffix, the bare value as $value. */
export type Suffixes = Primitive | { readonly [suffix: string]: Primitive };

/** Keys that follow an id in STRUCTURED, and RM attributes that the template has no node for. */
export interface RawStructured {
  readonly [key: `|${string}` | `_${string}`]: unknown;
}

/** In STRUCTURED a node is a list; one alone is read as well. */
export type Listed<T> = T | readonly T[];

/** A list of at most so many. */
export type UpTo<
  T,
  Most extends number,
  Count extends readonly unknown[] = [],
  Made extends readonly unknown[] = [],
> = Count['length'] extends Most ? Made : UpTo<T, Most, [...Count, 0], [...Made, T?]>;

/** Data without the keys of FLAT beside them: what has a canonical form. */
export type Plain<T> = T extends Primitive | undefined
  ? T
  : T extends readonly unknown[]
    ? { readonly [Index in keyof T]: Plain<T[Index]> }
    : { readonly [Key in keyof T as Key extends `/${string}` | `|${string}` ? never : Key]: Plain<T[Key]> };

/** Data that are yours to change. */
export type Draft<T> = T extends Primitive | undefined
  ? T
  : T extends readonly unknown[]
    ? { -readonly [Index in keyof T]: Draft<T[Index]> }
    : { -readonly [Key in keyof T]: Draft<T[Key]> };

/** The nodes of a template: `of` the children, without it a value. */
export interface Shape {
  readonly list?: true;
  readonly of?: { readonly [id: string]: Shape };
}

interface Tree {
  [member: string]: unknown;
}

/** FLAT of a tree. */
export function toFlat(root: string, shape: Shape, tree: object, ctx: Flat): Flat {
  const flat: Flat = {};
  for (const [key, value] of Object.entries(ctx)) flat[`ctx/${key}`] = value;
  write(flat, root, shape, tree);
  return flat;
}

function write(flat: Flat, path: string, shape: Shape, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) value.forEach((one, index) => write(flat, `${path}:${index}`, shape, one));
  else if (typeof value !== 'object') flat[path] = value as Primitive;
  else for (const [name, member] of Object.entries(value)) writeMember(flat, path, { shape, name }, member);
}

function writeMember(flat: Flat, path: string, at: { shape: Shape; name: string }, member: unknown): void {
  const { shape, name } = at;
  if (member === undefined || member === null) return;
  if (name === '$value') flat[path] = member as Primitive;
  else if (/^[/|]/.test(name)) flat[path + name] = member as Primitive;
  else if (shape.of === undefined) flat[`${path}|${name}`] = member as Primitive;
  else write(flat, `${path}/${name}`, shape.of[name] ?? {}, member);
}

/** The tree of FLAT; keys of the context are left out. */
export function fromFlat(root: string, shape: Shape, flat: Readonly<Record<string, unknown>>): unknown {
  const tree: Tree = {};
  for (const [key, value] of Object.entries(flat)) {
    const rest = key.startsWith(root) ? key.slice(root.length) : '';
    if (/^[/|]/.test(rest)) place(tree, shape, rest, value);
  }
  return collapsed(tree, '$value');
}

function place(tree: Tree, shape: Shape, rest: string, value: unknown): void {
  let [node, at, left] = [tree, shape, rest];
  for (;;) {
    const [step = '', id = '', index = '0'] = /^\/([^/|:]+)(?::(\d+))?(?=[/|]|$)/.exec(left) ?? [];
    const next = childShape(at, id);
    if (next === undefined) break;
    [node, at, left] = [
      child(node, id, next.list === true ? Number(index) : null),
      next,
      left.slice(step.length),
    ];
  }
  const isSuffix = at.of === undefined && /^\|[^/|]+$/.test(left);
  node[left === '' ? '$value' : isSuffix ? left.slice(1) : left] = value;
}

function childShape({ of = {} }: Shape, id: string): Shape | undefined {
  return Object.hasOwn(of, id) ? of[id] : undefined;
}

function child(node: Tree, id: string, index: number | null): Tree {
  if (index === null) return (node[id] ??= {}) as Tree;
  const list = (node[id] ??= []) as Tree[];
  while (list.length <= index) list.push({});
  return list[index] as Tree;
}

/** An object that holds nothing but the member of its value is that value. */
function collapsed(value: unknown, only: '$value' | '|value'): unknown {
  if (Array.isArray(value)) return value.map((one) => collapsed(one, only));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === only) return entries[0][1];
  return Object.fromEntries(entries.map(([name, member]) => [name, collapsed(member, only)]));
}

/** STRUCTURED of FLAT. */
export function toStructured(flat: Flat): Tree {
  const root: Tree = {};
  for (const [key, value] of Object.entries(flat)) {
    const [path = '', suffix = 'value'] = key.split('|');
    const [top = '', ...steps] = path.split('/');
    let node = (root[top] ??= {}) as Tree;
    for (const step of steps) {
      const [name = '', index = '0'] = step.split(':');
      node = child(node, name, Number(index));
    }
    node[`|${suffix}`] = value;
  }
  return collapsed(root, '|value') as Tree;
}
