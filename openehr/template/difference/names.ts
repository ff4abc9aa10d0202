import type { ChildMatcher } from '../validate/matcher.js';
import type { Comparison } from './change.js';

/** Nodes of one node id that stand for each other, and those that only one of the templates has. */
interface PairedTwins {
  readonly pairs: readonly (readonly [ChildMatcher, ChildMatcher])[];
  readonly gone: readonly ChildMatcher[];
  readonly come: readonly ChildMatcher[];
}

/** Pairs siblings of one node id by the name that data must have, then by what they are called, then by their order. */
export function pairedTwins(before: readonly ChildMatcher[], after: readonly ChildMatcher[]): PairedTwins {
  let [gone, come] = [[...before], [...after]];
  const pairs: (readonly [ChildMatcher, ChildMatcher])[] = [];
  for (const nameOf of [required, shown, anything]) {
    const left: ChildMatcher[] = [];
    for (const child of gone) {
      const other = come.find((candidate) => nameOf(candidate) === nameOf(child));
      if (other === undefined) left.push(child);
      else {
        pairs.push([child, other]);
        come = come.filter((candidate) => candidate !== other);
      }
    }
    gone = left;
  }
  return { pairs, gone, come };
}

const required = ({ matcher }: ChildMatcher): string | null => matcher.node.nameConstraint;
const shown = ({ matcher }: ChildMatcher): string => matcher.node.name;
const anything = (): string => '';

/** Compares the names that data must have. `twins`: all nodes of that node id in the later template. */
export function compareNames(
  [before, after]: readonly [ChildMatcher, ChildMatcher],
  twins: readonly ChildMatcher[],
  comparison: Comparison,
): void {
  const names = before.names === null ? null : [...before.names];
  const isWithin = isEveryNameOf(before, after, twins);
  const isNotMore = before.names === null || isSubset(after.names, before.names);
  if (isWithin && isNotMore) return;
  const said = {
    path: before.matcher.node.aqlPath,
    what: 'name',
    from: names,
    to: after.names === null ? null : [...after.names],
  } as const;
  if (isWithin) {
    comparison.add({
      ...said,
      kind: 'widened',
      verdict: 'minor',
      reason: 'every name that was possible still is',
    });
    return;
  }
  const lost = (names ?? [ANOTHER_NAME]).find((name) => !twins.some((twin) => isNamed(twin, name)));
  const kind = names === null ? 'narrowed' : 'renamed';
  if (lost === undefined)
    comparison.add({
      ...said,
      kind,
      verdict: 'unproven',
      reason: 'data of that name are those of another node now',
    });
  else
    comparison.add({
      ...said,
      kind,
      verdict: 'breaking',
      reason: `data may be named ${JSON.stringify(lost)}, and no node is any more`,
      example: { name: { _type: 'DV_TEXT', value: lost } },
    });
}

/** Whether data of every name that one node takes are judged by the other. `twins`: all nodes of that node id beside the other. */
export function isEveryNameOf(
  { names }: ChildMatcher,
  other: ChildMatcher,
  twins: readonly ChildMatcher[],
): boolean {
  return names === null ? isAnyFound(other, twins) : [...names].every((name) => isFound(name, other, twins));
}

/** Whether data may have a name that both nodes take. */
export function isSomeNameOf({ names }: ChildMatcher, other: ChildMatcher): boolean {
  return names === null || [...names].some((name) => isNamed(other, name));
}

const ANOTHER_NAME = 'Another name';

function isNamed({ names }: ChildMatcher, name: string): boolean {
  return names === null || names.has(name);
}

/** Whether data of a name are judged by the node, or one that counts together with it. */
function isFound(name: string, node: ChildMatcher, twins: readonly ChildMatcher[]): boolean {
  return twins.find((twin) => isNamed(twin, name))?.index === node.index;
}

/** Whether data of all names are. */
function isAnyFound(node: ChildMatcher, twins: readonly ChildMatcher[]): boolean {
  const [first] = twins;
  return first?.names === null && first.index === node.index;
}

function isSubset(inner: ReadonlySet<string> | null, outer: ReadonlySet<string>): boolean {
  return inner !== null && [...inner].every((name) => outer.has(name));
}
