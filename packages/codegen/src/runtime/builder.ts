// Made by `everchart codegen templates`. A builder: one method for each node whose id is the only one of the template.
import { toCanonical, type Composition, type Context, type Plan, type TemplatePlan } from './canonical.js';
import type { Plain } from './flat.js';

/**
 * Methods that take the value of a node, wherever it stands, in the first instance of each list above it. `build` is a
 * function once nothing is missing that every COMPOSITION of the template has. `Inside`: what a node brings along.
 */
export type Builder<Parts, Missing, Inside, Data> = {
  readonly [Key in keyof Parts]-?: (
    value: Plain<NonNullable<Parts[Key]>>,
  ) => Builder<Parts, Exclude<Missing, Key | (Key extends keyof Inside ? Inside[Key] : never)>, Inside, Data>;
} & {
  /** The data so far. */
  readonly data: () => Partial<Data>;
  /** Canonical JSON, to be committed. @throws TypeError naming what a node that was begun lacks */
  readonly build: [Missing] extends [never] ? () => Composition : { readonly missing: Missing };
};

type Way = readonly (readonly [id: string, list: boolean])[];

/** Names that the builder has itself. */
const OWN = ['build', 'data'];

/** A builder of a template: of the type that its module says. */
export function builderOf(template: TemplatePlan, ctx: Context): unknown {
  return made(template, ctx, { ways: waysOf(template.root), data: {} });
}

interface State {
  readonly ways: ReadonlyMap<string, Way>;
  readonly data: object;
}

function made(template: TemplatePlan, ctx: Context, { ways, data }: State): unknown {
  const methods: { [name: string]: unknown } = {
    build: () => toCanonical(template, data, ctx),
    data: () => data,
  };
  for (const [name, way] of ways) {
    methods[name] = (value: unknown) =>
      made(template, ctx, { ways, data: placed(copyOf(data) as object, way, value) });
  }
  return methods;
}

interface Tree {
  [member: string]: unknown;
}

function placed(data: object, way: Way, value: unknown): object {
  let node = data as Tree;
  for (const [id, list] of way.slice(0, -1)) {
    const next = (node[id] ??= list ? [{}] : {}) as Tree | [Tree, ...Tree[]];
    node = Array.isArray(next) ? (next as [Tree])[0] : next;
  }
  node[way.at(-1)?.[0] ?? ''] = copyOf(value);
  return data;
}

/** The way to each node that has a canonical form and whose id stands once. */
function waysOf(root: Plan): Map<string, Way> {
  const ways = new Map<string, Way>();
  const twice = new Set(OWN);
  const visit = ({ of = {} }: Plan, above: Way): void => {
    for (const [id, plan] of Object.entries(of)) {
      if (plan.via === undefined) continue;
      if (ways.has(id)) twice.add(id);
      const way: Way = [...above, [id, plan.list === true]];
      ways.set(id, way);
      visit(plan, way);
    }
  };
  visit(root, []);
  for (const id of twice) ways.delete(id);
  return ways;
}

/** Data are JSON. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
