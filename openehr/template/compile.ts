import type { OperationalTemplate, TemplateDescription } from './opt/constraint.js';
import { filteredTree } from './web-template/filtered-tree.js';
import { fullTree } from './web-template/full-tree.js';
import { matcherOf, type ObjectMatcher } from './validate/matcher.js';
import { webTemplateJson } from './web-template/web-template.js';
import { Scope } from './web-template/scope.js';
import type { WebTemplateNode } from './web-template/web-template.js';
import { CdrError } from '../base/errors.js';
import { parseXml, type XmlElement } from '../base/xml.js';
import { checkConstraints } from './validate/constraint-check.js';
import { MAX_OPT_NODES, MAX_TEMPLATE_NODES, tooManyTemplateNodes } from './opt/limits.js';
import { annotationsOf, defaultsOf, headerOf, translationsOf } from './opt/opt-header.js';
import { definitionOf } from './opt/opt-object.js';
import { undefinedCodes } from './opt/opt-codes.js';
import { element, elements, unreadable } from './opt/opt-xml.js';

/** What a template says, as plain data: it may go from one thread to another. */
export interface TemplateData {
  readonly templateId: string;
  readonly concept: string;
  /** Archetype id of the root. */
  readonly archetypeId: string;
  readonly uid: string | null;
  /** ISO 639-1 code. */
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  readonly description: TemplateDescription;
  /** Every RM object the template describes. */
  readonly fullTree: WebTemplateNode;
  /** The nodes that clients see: FLAT ids are those of this tree. */
  readonly filteredTree: WebTemplateNode;
  /** The web template as clients get it (docs/spec/formats.md#web-template-json): JSON in UTF-8. */
  readonly webTemplateText: Buffer;
  /** About how much memory all this takes. */
  readonly estimatedBytes: number;
  readonly opt: OperationalTemplate;
}

/** A template in the form that the rest of the product works with. */
export interface CompiledTemplate extends TemplateData {
  /** The full tree as `validateAgainstTemplate` needs it. */
  readonly matcher: ObjectMatcher;
}

/**
 * Reads and compiles an operational template: once per template, the result is to be cached.
 * @throws invalid with the messages of docs/spec/formats.md#opt-errors
 */
export function compileTemplate(optText: string): CompiledTemplate {
  return withMatcher(readTemplate(optText));
}

/** What a template says, with how objects are compared with it. */
export function withMatcher(data: TemplateData): CompiledTemplate {
  return { ...data, matcher: matcherOf(data.fullTree, Scope.of(data.opt)) };
}

/** As `compileTemplate`, as far as its result is plain data. */
export function readTemplate(optText: string): TemplateData {
  const opt = parseOpt(optText);
  const full = fullTree(opt);
  const filtered = filteredTree(full, opt);
  const webTemplateText = Buffer.from(JSON.stringify(webTemplateJson(opt, filtered)));
  return {
    templateId: opt.templateId,
    concept: opt.concept,
    archetypeId: opt.definition.archetype.archetypeId,
    uid: opt.uid,
    defaultLanguage: opt.defaultLanguage,
    languages: opt.languages,
    description: opt.description,
    fullTree: full,
    filteredTree: filtered,
    webTemplateText,
    estimatedBytes: estimatedBytes(optText, full, webTemplateText),
    opt,
  };
}

/** Measured: a compiled template takes 2.5 to 3.5 KB for each node of its full tree. */
const BYTES_OF_NODE = 4_096;

/** Terms that no node shows are kept as well: they are part of the text, with up to two bytes for a character. */
function estimatedBytes(optText: string, full: WebTemplateNode, webTemplateText: Buffer): number {
  return 2 * optText.length + BYTES_OF_NODE * nodeCount(full) + webTemplateText.byteLength;
}

function nodeCount(node: WebTemplateNode): number {
  let count = 1;
  for (const child of node.children) count += nodeCount(child);
  return count;
}

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
  requireFewNodes(definition);
  const read = {
    ...header,
    languages: [...new Set(header.description.details.map((details) => details.language))],
    definition: definitionOf(definition),
    translations: translationsOf(template),
    annotations: annotationsOf(template),
    defaults: defaultsOf(template),
  };
  const refused = checkConstraints(read);
  return { ...read, refusedAsNew: [...undefinedCodes(template), ...refused] };
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

/** The number of objects; before anything is built from it: internal references only add to this. @throws invalid */
function requireFewNodes(definition: XmlElement): void {
  const size = expandedXmlSize(definition);
  if (size > MAX_TEMPLATE_NODES) throw tooManyTemplateNodes(size);
}

function expandedXmlSize(object: XmlElement): number {
  let size = 1;
  for (const attribute of elements(object, 'attributes'))
    for (const child of elements(attribute, 'children')) size += expandedXmlSize(child);
  return size;
}
