import type { XmlElement } from '../../base/xml.js';
import { elements } from './opt-xml.js';

const CONSTRAINT_CODE = /^ac\d/;

/**
 * Constraint codes that a template binds and nothing in it defines. ADL 1.4, validity rule VACDF; codes of nodes are looked up
 * where they stand.
 */
export function undefinedCodes(template: XmlElement): readonly string[] {
  const [defined, bound] = [new Set<string>(), new Set<string>()];
  collect(template, defined, bound);
  return [...bound]
    .filter((code) => !defined.has(code))
    .map((code) => `the constraint code ${code} is bound but not defined`);
}

function collect(parent: XmlElement, defined: Set<string>, bound: Set<string>): void {
  for (const child of elements(parent)) {
    if (child.name === 'term_definitions') defined.add(codeOf(child));
    if (child.name === 'term_definitions' || child.name === 'constraint_definitions')
      for (const item of elements(child, 'items')) defined.add(codeOf(item));
    else if (child.name === 'term_bindings' || child.name === 'constraint_bindings')
      for (const item of elements(child, 'items'))
        if (CONSTRAINT_CODE.test(codeOf(item))) bound.add(codeOf(item));
    collect(child, defined, bound);
  }
}

function codeOf(item: XmlElement): string {
  return item.attributes.get('code') ?? '';
}
