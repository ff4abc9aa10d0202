import type { AttributeConstraint, Constraint, OperationalTemplate } from '../opt/constraint.js';
import { MAX_TEMPLATE_PATTERNS_SIZE } from '../opt/limits.js';
import { invalidTemplate } from '../opt/opt-xml.js';
import { wholeTextPattern } from '../opt/whole-text-pattern.js';
import { counted } from '../../base/work.js';

/**
 * Refuses a template with a pattern of a C_STRING or a slot that cannot be used, so that none is met later.
 * @throws invalid
 */
export function checkPatterns({ definition }: Pick<OperationalTemplate, 'definition'>): void {
  const patterns = new Set<string>();
  collectPatterns(definition.attributes, patterns, new Set());
  let size = 0;
  for (const pattern of counted(patterns)) {
    size += wholeTextPattern(pattern).size;
    if (size > MAX_TEMPLATE_PATTERNS_SIZE)
      throw invalidTemplate(
        `its regular expressions compile to more than ${MAX_TEMPLATE_PATTERNS_SIZE} instructions together`,
      );
  }
}

/** `seen`: attributes that internal references share. */
function collectPatterns(
  attributes: readonly AttributeConstraint[],
  found: Set<string>,
  seen: Set<readonly AttributeConstraint[]>,
): void {
  if (seen.has(attributes)) return;
  seen.add(attributes);
  for (const { children } of counted(attributes))
    for (const child of counted(children)) {
      if (child.kind === 'object') collectPatterns(child.attributes, found, seen);
      else for (const pattern of counted(patternsOf(child))) if (pattern !== null) found.add(pattern);
    }
}

function patternsOf(child: Constraint): readonly (string | null)[] {
  if (child.kind === 'slot')
    return counted([...child.includes, ...child.excludes]).map(
      ({ archetypeIdPattern }) => archetypeIdPattern,
    );
  return child.kind === 'primitive' && child.item.kind === 'string' ? [child.item.pattern] : [];
}
