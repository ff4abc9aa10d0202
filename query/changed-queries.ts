import { isSpecialisation } from '../aql/semantics/specialisation.js';
import type {
  ClassExpression,
  IdentifiedPath,
  ParsedQuery,
  Placeholder,
  Predicate,
} from '../aql/syntax/ast.js';
import { parseAql } from '../aql/syntax/parse.js';
import { isArchetypeId } from '../aql/syntax/words.js';
import { classesOf } from '../aql/syntax/walk.js';
import { CdrError } from '../openehr/base/errors.js';
import { formatVersion } from '../openehr/base/semver.js';
import { counted, step } from '../openehr/base/work.js';
import type { Change } from '../openehr/template/difference/change.js';
import type { StoredAlias } from '../openehr/template/upgrade/alias.js';
import { commonLength, rulePath, type RulePath } from '../openehr/template/upgrade/path.js';
import type { StoredQueryDoc } from '../models/definition/stored-query.js';

/** A stored query that reads what a template has otherwise now. */
interface ChangedQuery {
  readonly name: string;
  readonly version: string;
  /** Those of the changes that it reads, by their paths. */
  readonly paths: readonly string[];
}

/**
 * The stored queries whose meaning a change of a template changes: they name its archetypes, and read what is gone, or values
 * that are others now (docs/spec/rest.md#administration). `archetypeId`: of the root of the template.
 */
export function changedQueries(
  queries: readonly StoredQueryDoc[],
  changes: readonly Change[],
  archetypeId: string,
  aliases: readonly Pick<StoredAlias, 'from' | 'to'>[] = [],
): ChangedQuery[] {
  const seen = counted(aliases).flatMap(({ from, to }) => [rulePath(from), rulePath(to)]);
  const isSeen = ({ kind, path }: Change): boolean =>
    GONE.has(kind) && counted(seen).some((moved) => commonLength(moved, rulePath(path)) === moved.length);
  const places = counted(changes)
    .filter((change) => isReadOtherwise(change) && !isSeen(change))
    .map(({ path }) => ({ path, steps: rulePath(path) }));
  if (places.length === 0) return [];
  return counted(queries).flatMap((doc) => {
    const reads = readsOf(doc.q);
    const paths = counted(places)
      .filter(({ steps }) => counted(reads).some((read) => isReadAt(read, steps, archetypeId)))
      .map(({ path }) => path);
    return paths.length === 0
      ? []
      : [{ name: doc.name, version: formatVersion(doc), paths: [...new Set(paths)] }];
  });
}

const GONE: ReadonlySet<Change['kind']> = new Set(['removed', 'moved']);
const OF_VALUES: ReadonlySet<Change['what']> = new Set([
  'type',
  'alternative',
  'name',
  'codes',
  'value_set',
  'units',
  'value',
]);

function isReadOtherwise({ path, verdict, kind, what }: Change): boolean {
  return path !== '' && verdict !== 'text' && (GONE.has(kind) || OF_VALUES.has(what));
}

/** One place that a query reads: a path behind an object of FROM, or that object itself. */
interface Read {
  readonly className: string;
  /** Archetype id or at-code that FROM asks for; null: none. */
  readonly nodeId: string | null;
  readonly steps: readonly ReadStep[];
}

interface ReadStep {
  readonly attribute: string;
  readonly nodeId: string | null;
}

/** What a text reads; nothing when it is no query of today. */
function readsOf(q: string): Read[] {
  let query: ParsedQuery;
  try {
    query = parseAql(q);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return [];
    throw error;
  }
  const classes = [...classesOf<Placeholder>(query.from)];
  const paths = [...pathsIn(query)];
  return classes.flatMap((each) => {
    const read = { className: each.className, nodeId: nodeIdOf(each.predicate) };
    const own = paths.filter(({ variable }) => isOf(variable, each));
    return [
      { ...read, steps: [] },
      ...own.map(({ steps }) => ({
        ...read,
        steps: steps.map(({ attribute, predicate }) => ({ attribute, nodeId: nodeIdOf(predicate) })),
      })),
    ];
  });
}

function isOf(variable: string, { variable: named }: ClassExpression<Placeholder>): boolean {
  return named !== null && named.toLowerCase() === variable.toLowerCase();
}

/** The paths of a syntax tree, wherever they stand. */
function* pathsIn(part: unknown): Generator<IdentifiedPath<Placeholder>> {
  step();
  if (typeof part !== 'object' || part === null) return;
  if (isPath(part)) yield part;
  for (const each of counted(Object.values(part))) yield* pathsIn(each);
}

function isPath(part: object): part is IdentifiedPath<Placeholder> {
  return 'kind' in part && part.kind === 'path';
}

/** The one node id that a predicate asks for; null: none, or it leaves a choice. */
function nodeIdOf(predicate: Predicate<Placeholder> | null): string | null {
  const [only, ...others] = predicate?.alternatives ?? [];
  if (only === undefined || others.length > 0) return null;
  const [first] = only;
  return first?.kind === 'node' ? first.id.value : null;
}

/** Whether a query reads at a place of a template, or within it. */
function isReadAt({ className, nodeId, steps }: Read, place: RulePath, archetypeId: string): boolean {
  if (className === 'COMPOSITION')
    return (nodeId === null || isSpecialisation(archetypeId, nodeId)) && isBegunBy(steps, place);
  // Of an object without an id nobody knows where it stands.
  if (nodeId === null) return false;
  return counted(place).some(
    (at, index) => isSameNode(at.nodeId, nodeId) && isBegunBy(steps, place.slice(index + 1)),
  );
}

function isBegunBy(steps: readonly ReadStep[], place: RulePath): boolean {
  return (
    steps.length >= place.length &&
    counted(place).every(({ attribute, nodeId }, index) => {
      const read = steps[index];
      return read?.attribute === attribute && (read.nodeId === null || isSameNode(nodeId, read.nodeId));
    })
  );
}

function isSameNode(nodeId: string | null, wanted: string): boolean {
  if (nodeId === null) return false;
  return isArchetypeId(wanted) ? isSpecialisation(nodeId, wanted) : nodeId === wanted;
}
