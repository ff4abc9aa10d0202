import { FIELD } from '../../index/document.js';
import type { NodeId } from '../../syntax/ast.js';
import { call, equal, fieldRef, isOneOf, literal, or } from '../../plan/expression.js';
import type { Expression, Field, Reference } from '../../plan/expression.js';

const ARCHETYPE_ID = /^((?:[^:]+::)?[^.]+)\.([^.]+)(\.v\d+)/;

/**
 * Whether an archetype_node_id is the one named. With `subsumption` (AQL_SUBSUMPTION) also that of a
 * specialised archetype: same RM entity and major version, concept starting with `<concept>-`.
 */
export function archetypeHolds(
  nodeId: Reference,
  id: Pick<NodeId, 'value' | 'isArchetypeId'>,
  subsumption: boolean,
): Expression {
  const exact = equal(nodeId, literal(id.value));
  const pattern = subsumption && id.isArchetypeId ? specialisedPattern(id.value) : null;
  if (pattern === null) return exact;
  return or(
    exact,
    call('$cond', [
      equal(call('$type', nodeId), 'string'),
      call('$regexMatch', { input: nodeId, regex: literal(pattern) }),
      false,
    ]),
  );
}

/** Regular expression of the ids of archetypes specialised from one; null when the id has no such form. */
function specialisedPattern(archetypeId: string): string | null {
  const found = ARCHETYPE_ID.exec(archetypeId);
  if (found === null) return null;
  const [, entity, concept, major] = found;
  return `^${escapeRegex(entity ?? '')}\\.${escapeRegex(concept ?? '')}-[^.]*${escapeRegex(major ?? '')}(\\.|$)`;
}

/** Text as a regular expression that matches nothing else. */
function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Whether a document, found by its segments, is of a COMPOSITION of a template. */
export function isOfTemplate(segs: Field, templateIds: readonly string[]): Expression {
  const path = segs.path.slice(0, segs.path.length - FIELD.segments.length) + FIELD.templateId;
  return isOneOf(fieldRef(path), templateIds);
}
