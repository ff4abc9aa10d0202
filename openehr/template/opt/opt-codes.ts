import type { XmlElement } from '../../base/xml.js';
import { elements } from './opt-xml.js';

const CONSTRAINT_CODE = /^ac\d/;

/**
 * Constraint codes that a template binds and nothing in it defines. ADL 1.4, validity rule VACDF; codes of nodes are looked up
 * where they stand.
 */
export function undefinedCodes(template: XmlElement): readonly string[] {
  const [defined, bound] = [new Set<string>(), new Set<string>()];
  collectCodes(template, defined, bound);
  return [...bound]
    .filter((code) => !defined.has(code))
    .map((code) => `the constraint code ${code} is bound but not defined`);
}

function collectCodes(parent: XmlElement, defined: Set<string>, bound: Set<string>): void {
  for (const child of elements(parent)) {
    if (child.name === 'term_definitions') defined.add(codeAttribute(child));
    if (child.name === 'term_definitions' || child.name === 'constraint_definitions')
      for (const item of elements(child, 'items')) defined.add(codeAttribute(item));
    else if (child.name === 'term_bindings' || child.name === 'constraint_bindings')
      for (const item of elements(child, 'items'))
        if (CONSTRAINT_CODE.test(codeAttribute(item))) bound.add(codeAttribute(item));
    collectCodes(child, defined, bound);
  }
}

function codeAttribute(item: XmlElement): string {
  return item.attributes.get('code') ?? '';
}
