import {
  and,
  call,
  fieldRef,
  literal,
  member,
  not,
  present,
  type Expression,
} from '../../plan/expression.js';
import type { Step } from '../../plan/steps.js';
import type { PathUse } from '../../semantics/scope-types.js';
import type { PathStep } from '../../syntax/ast.js';
import { counted } from '../../../openehr/base/work.js';
import type { ValueRef } from '../value/values.js';
import type { NodeBinding } from './binding.js';
import { isOfTemplate } from './node-id.js';
import { someAlong, type Environment } from './predicate.js';

/** What is asked of a document for its fallbacks. */
interface FallbackState {
  readonly environment: Environment;
  readonly steps: Step[];
  readonly nodes: ReadonlyMap<number, NodeBinding>;
  /** Whether something stands at a path below the last choice that it shares with a fallback, by both. */
  readonly there: Map<string, Expression>;
}

/**
 * Whether a fallback is read below its first `depth` choices: the document is of its template, and nothing stands at the paths
 * before it, as far as these have left its own. True for what is no fallback.
 */
export function isReadInstead(use: PathUse, depth: number, state: FallbackState): Expression {
  const { instead } = use;
  if (instead === undefined) return true;
  const root = bindingAt(use, 0, state);
  const free = counted(instead.before).map((other) => {
    const shared = sharedSteps(use, other);
    return shared > depth ? true : not(standsBelow(use, other, shared, state));
  });
  return and(isOfTemplate(root.segs, instead.templateIds), ...free);
}

/** How many first choices two paths have in common. */
function sharedSteps(one: PathUse, other: PathUse): number {
  const at = counted(one.steps).findIndex(({ node }, index) => other.steps[index]?.node !== node);
  return at < 0 ? one.steps.length : at;
}

/** Computed once, before the choices of the fallback are made. */
function standsBelow(use: PathUse, other: PathUse, shared: number, state: FallbackState): Expression {
  const key = `h${use.index}o${other.index}`;
  const known = state.there.get(key);
  if (known !== undefined) return known;
  const choice = bindingAt(other, shared - 1, state);
  const last = (other.there ?? other.decisive) + 1;
  const rest = counted(other.steps.slice(shared, last)).map(({ node, filter }): PathStep => {
    return { attribute: node.attribute ?? '', predicate: filter, at: filter?.at ?? node.alias.at };
  });
  const start = {
    object: choice.expression,
    classes: other.steps[shared - 1]?.node.classes ?? new Set<string>(),
  };
  const environment = { ...state.environment, segs: choice.segs };
  const found = someAlong(start, rest, environment, (end) => present(end.raw));
  const isOther = other.instead === undefined ? true : isOfTemplate(choice.segs, other.instead.templateIds);
  state.steps.push({ kind: 'set', field: key, value: and(choice.guard, isOther, found) });
  const made = call('$eq', [fieldRef(key), literal(true)]);
  state.there.set(key, made);
  return made;
}

function bindingAt({ steps }: PathUse, depth: number, { nodes }: FallbackState): NodeBinding {
  const node = steps[depth]?.node;
  const binding = node === undefined ? undefined : nodes.get(node.id);
  if (binding === undefined) throw new TypeError('a fallback was read before the choices that it shares');
  return binding;
}

/** The first of the values of a path and its fallbacks that is there. */
export function firstValue(use: PathUse, values: readonly ValueRef[], steps: Step[]): ValueRef {
  const all = [use, ...(use.fallbacks ?? [])];
  const [attribute, another] = new Set(counted(all).map(({ path }) => path.steps.at(-1)?.attribute));
  // With the object that holds it, which tells times from texts.
  const isHeld = counted(values).every(({ parent }) => parent !== null) && another === undefined;
  const classes = new Set(counted(values).flatMap((each) => [...each.classes]));
  const field = `z${use.index}`;
  const value = counted(values).reduceRight<Expression>(
    (rest, { raw, parent }) => call('$cond', [present(raw), isHeld ? parent : raw, rest]),
    null,
  );
  steps.push({ kind: 'set', field, value });
  const found = fieldRef(field);
  return isHeld && attribute !== undefined
    ? { raw: member(found, attribute), parent: found, classes }
    : { raw: found, parent: null, classes };
}
