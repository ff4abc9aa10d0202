import { STUB_SHAPE } from './keys.js';
import { classesIn } from '../semantics/from-walk.js';
import type { FromNode } from '../semantics/scope-types.js';
import { innerClasses } from '../semantics/node-classes.js';
import { counted } from '../../openehr/base/work.js';

/** The shape catalogue: at which attribute paths of an archetype nodes of an RM type were ever seen. */
export interface ShapeCatalogue {
  /**
   * Dotted paths inside a segment at which one of the RM types occurs; `archetypeIds` null = in any archetype.
   * Each path once, in alphabetical order.
   */
  paths(rmTypes: readonly string[], archetypeIds: readonly string[] | null): readonly string[];
  /** Dotted paths at which a segment is cut off. */
  stubPaths(archetypeIds: readonly string[] | null): readonly string[];
}

/** A catalogue from the `_id`s of `aql_shapes`. */
export function shapeCatalogue(ids: readonly string[]): ShapeCatalogue {
  const byType = new Map<string, Map<string, Set<string>>>();
  for (const id of counted(ids)) {
    const end = id.lastIndexOf('|');
    const middle = id.lastIndexOf('|', end - 1);
    if (end < 0 || middle < 0) continue;
    const archetypes = getOrAddShape(byType, id.slice(middle + 1, end), () => new Map<string, Set<string>>());
    getOrAddShape(archetypes, id.slice(0, middle), () => new Set<string>()).add(id.slice(end + 1));
  }
  const paths = (types: readonly string[], archetypeIds: readonly string[] | null): string[] => {
    const found = new Set<string>();
    for (const type of counted(types))
      for (const [archetypeId, seen] of counted(byType.get(type) ?? []))
        if (archetypeIds === null || archetypeIds.includes(archetypeId))
          for (const path of counted(seen)) found.add(path);
    return [...found].sort();
  };
  return { paths, stubPaths: (archetypeIds) => paths([STUB_SHAPE], archetypeIds) };
}

/** Parts of `paths` below one of `tops`; `''` as a top stands for the segment itself. */
export function relativePaths(paths: readonly string[], tops: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const top of counted(tops)) {
    const prefix = top === '' ? '' : `${top}.`;
    for (const path of counted(paths)) if (path.startsWith(prefix)) found.add(path.slice(prefix.length));
  }
  return [...found].sort();
}

function getOrAddShape<K, V>(entries: Map<K, V>, key: K, make: () => V): V {
  const existing = entries.get(key);
  if (existing !== undefined) return existing;
  const added = make();
  entries.set(key, added);
  return added;
}

/** Whether FROM names a class that can stand inside a segment, so that the catalogue has to be asked. */
export function needsShapes(from: FromNode): boolean {
  return counted([...classesIn(from)]).some(
    ({ alias }) => alias.kind === 'object' && innerClasses(alias).length > 0,
  );
}
