import { CdrError } from '../../base/errors.js';
import { parseXml, type XmlElement } from '../../base/xml.js';
import type { OperationalTemplate } from './constraint.js';
import { checkConstraints, tooManyNodes } from '../validate/constraint-check.js';
import { MAX_OPT_NODES, MAX_TEMPLATE_NODES } from './limits.js';
import { annotationsOf, defaultsOf, headerOf, translationsOf } from './opt-header.js';
import { definitionOf } from './opt-object.js';
import { childText, element, elements, unreadable } from './opt-xml.js';

const OPENEHR_NAMESPACE = 'http://schemas.openehr.org/v1';

/**
 * Reads an operational template (OPT 1.4 XML) into its constraint tree.
 * @throws invalid with the messages of docs/spec/formats.md#opt-errors, in that order
 */
export function parseOpt(text: string): OperationalTemplate {
  const template = templateElement(text);
  const header = headerOf(template);
  const definition = element(template, 'definition');
  if (definition === undefined) throw unreadable('template without definition');
  refuseUnsupportedTypes(definition);
  const opt: OperationalTemplate = {
    ...header,
    languages: [...new Set(header.description.details.map((details) => details.language))],
    definition: definitionOf(definition),
    translations: translationsOf(template),
    annotations: annotationsOf(template),
    defaults: defaultsOf(template),
  };
  checkConstraints(opt);
  return opt;
}

function templateElement(text: string): XmlElement {
  if (text.trim() === '') throw new CdrError('invalid', 'Required request body is missing');
  const root = readXml(text);
  if (root.name !== 'template' || root.namespace !== OPENEHR_NAMESPACE)
    throw unreadable(`the root element must be template of the namespace ${OPENEHR_NAMESPACE}`);
  return root;
}

function readXml(text: string): XmlElement {
  try {
    return parseXml(text, { maxNodes: MAX_OPT_NODES });
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') throw unreadable(error.message, error);
    throw error;
  }
}

function refuseUnsupportedTypes(definition: XmlElement): void {
  const types = new Set<string>();
  const size = collectTypes(definition, types);
  // Before anything is built from it: internal references only add to this.
  if (size > MAX_TEMPLATE_NODES) throw tooManyNodes(size);
  const uses = (name: string) => [...types].some((type) => type.split(/[<>,\s]+/).includes(name));
  if (uses('ITEM_TABLE'))
    throw new CdrError('invalid', 'The supplied template is not supported (unsupported types: ITEM_TABLE)');
}

/** Collects the RM types below an object and gives the number of objects. */
function collectTypes(object: XmlElement, types: Set<string>): number {
  types.add(childText(object, 'rm_type_name'));
  let size = 1;
  for (const attribute of elements(object, 'attributes'))
    for (const child of elements(attribute, 'children')) size += collectTypes(child, types);
  return size;
}
