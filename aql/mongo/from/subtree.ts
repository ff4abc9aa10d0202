import { SEGMENT_FIELD } from '../../index/document.js';
import type { Alias } from '../../semantics/scope-types.js';
import { and, any, member, bind, call, filter, present, variable } from '../../plan/expression.js';
import type { Expression, Field, Reference } from '../../plan/expression.js';
import { relativePaths } from '../../index/shapes.js';
import type { ShapeCatalogue } from '../../index/shapes.js';
import { archetypeIdsOf, innerClasses, isListOfNodes, namesNodeCode } from '../../semantics/node-classes.js';
import { objectsAt } from './objects-at.js';
import { counted } from '../../../openehr/base/work.js';

/** Part of one document below a bound class: where its CONTAINS looks. */
export interface Subtree {
  /** `$segs` of the document. */
  readonly segs: Field;
  /** The bound slot (`$x1`, `$$c1`), null for a whole document. */
  readonly at: Reference | null;
  /**
   * What `at` is: nothing or the root segment (`document`), a segment, a node inside a segment, or either.
   */
  readonly kind: 'document' | 'segment' | 'node' | 'mixed';
  /** Archetypes of the segment that `at` is in; null = any. */
  readonly archetypeIds: readonly string[] | null;
  /** Where inside its segment `at` can be; `''` = it is the segment. */
  readonly paths: readonly string[];
}

/** A whole document, or all below its root when `root` is bound. */
export function documentSubtree(
  segs: Field,
  root: Reference | null,
  archetypeIds: readonly string[] | null,
): Subtree {
  return { segs, at: root, kind: 'document', archetypeIds, paths: [''] };
}

/** Whether a class can be bound to segments. */
export function bindsSegments(alias: Alias): boolean {
  return !namesNodeCode(alias.predicate) || alias.classes.includes('FOLDER');
}

/** The subtree below a slot that was bound to `alias` inside `outer`. */
export function subtreeBelow(
  alias: Alias,
  outer: Subtree,
  at: Reference,
  options: { readonly shapes: ShapeCatalogue; readonly subsumption: boolean },
): Subtree {
  const inner = innerClasses(alias);
  const segments = bindsSegments(alias);
  const local = namesNodeCode(alias.predicate) && !alias.classes.includes('FOLDER');
  const within = options.subsumption ? null : outer.archetypeIds;
  const paths = local
    ? counted(options.shapes.paths(inner, within)).filter((path) =>
        counted(outer.paths).some((top) => top === '' || path.startsWith(`${top}.`)),
      )
    : options.shapes.paths(inner, null);
  if (inner.length === 0 || paths.length === 0) {
    const ids = options.subsumption ? null : archetypeIdsOf(alias);
    return { segs: outer.segs, at, kind: 'segment', archetypeIds: ids, paths: [''] };
  }
  return {
    segs: outer.segs,
    at,
    kind: segments ? 'mixed' : 'node',
    archetypeIds: local ? within : null,
    paths: segments ? ['', ...paths] : paths,
  };
}

/** The segments of nested archetypes below the subtree's slot. */
export function segmentsBelow(subtree: Subtree, shapes: ShapeCatalogue): Expression {
  const { segs, at, kind } = subtree;
  if (kind === 'document' || at === null) return segs;
  const inSegment = filter(
    segs,
    'g',
    and(
      call('$gt', [variable('g', SEGMENT_FIELD.number), member(at, SEGMENT_FIELD.number)]),
      call('$lte', [variable('g', SEGMENT_FIELD.number), member(at, SEGMENT_FIELD.last)]),
    ),
  );
  if (kind === 'segment') return inSegment;
  const below = cutOffBelow(subtree, shapes);
  return kind === 'node' ? below : call('$cond', [present(member(at, SEGMENT_FIELD.last)), inSegment, below]);
}

/** The segments of a subtree that can hold inner nodes: with the slot's own one when it is a segment. */
export function segmentsWithNodes(subtree: Subtree, shapes: ShapeCatalogue): Expression {
  const { segs, at, kind } = subtree;
  if (kind !== 'segment' || at === null) return segmentsBelow(subtree, shapes);
  return filter(
    segs,
    'g',
    and(
      call('$gte', [variable('g', SEGMENT_FIELD.number), member(at, SEGMENT_FIELD.number)]),
      call('$lte', [variable('g', SEGMENT_FIELD.number), member(at, SEGMENT_FIELD.last)]),
    ),
  );
}

/** The objects of inner classes in the slot's own segment, below the slot. */
export function ownObjects(subtree: Subtree, classes: readonly string[], shapes: ShapeCatalogue): Expression {
  const paths = relativePaths(shapes.paths(classes, subtree.archetypeIds), subtree.paths);
  return objectsAt(member(subtree.at ?? variable('ROOT'), SEGMENT_FIELD.object), paths, isListOfNodes);
}

function cutOffBelow(subtree: Subtree, shapes: ShapeCatalogue): Expression {
  const paths = relativePaths(shapes.stubPaths(subtree.archetypeIds), subtree.paths);
  const stubs = filter(
    objectsAt(member(subtree.at ?? variable('ROOT'), SEGMENT_FIELD.object), paths, isListOfNodes),
    'u',
    present(variable('u', 'seg')),
  );
  const tops = call('$map', {
    input: stubs,
    as: 'u',
    in: call('$arrayElemAt', [subtree.segs, variable('u', 'seg')]),
  });
  const below = any(
    variable('tops'),
    'u',
    and(
      call('$gte', [variable('g', SEGMENT_FIELD.number), variable('u', SEGMENT_FIELD.number)]),
      call('$lte', [variable('g', SEGMENT_FIELD.number), variable('u', SEGMENT_FIELD.last)]),
    ),
  );
  return bind('tops', tops, filter(subtree.segs, 'g', below));
}

/** Nothing, when a class can be found neither as segment nor inside one. */
export function neverFound(alias: Alias, subtree: Subtree, shapes: ShapeCatalogue): boolean {
  if (alias.impossible) return true;
  if (bindsSegments(alias)) return false;
  return shapes.paths(innerClasses(alias), subtree.archetypeIds).length === 0;
}
