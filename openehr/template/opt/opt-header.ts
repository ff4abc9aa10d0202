import { collapsedToken } from '../../base/text.js';
import { CdrError } from '../../base/errors.js';
import type { XmlElement } from '../../base/xml.js';
import type {
  Annotation,
  DefaultValue,
  DescriptionDetails,
  TemplateDescription,
  Terms,
} from './constraint.js';
import { MAX_TEMPLATE_ID_LENGTH } from './limits.js';
import { termsOf } from './opt-object.js';
import {
  booleanOf,
  childText,
  codeOf,
  element,
  elements,
  invalidTemplate,
  itemsOf,
  ownText,
  text,
  unreadable,
  xsiType,
} from './opt-xml.js';

/** Children of `template` and whether they may occur more than once (docs/spec/formats.md#opt-document). */
const TEMPLATE_ELEMENTS = new Map<string, 'once' | 'many'>([
  ['language', 'once'],
  ['is_controlled', 'once'],
  ['description', 'once'],
  ['revision_history', 'once'],
  ['uid', 'once'],
  ['template_id', 'once'],
  ['concept', 'once'],
  ['definition', 'once'],
  ['ontology', 'once'],
  ['component_ontologies', 'many'],
  ['annotations', 'many'],
  ['constraints', 'once'],
  ['view', 'once'],
]);

/** What the elements beside the definition say. */
export interface TemplateHeader {
  readonly templateId: string;
  readonly concept: string;
  readonly uid: string | null;
  readonly isControlled: boolean | null;
  readonly defaultLanguage: string;
  readonly description: TemplateDescription;
}

/** Reads the elements that identify a template. @throws invalid in the order of docs/spec/formats.md#opt-errors */
export function headerOf(template: XmlElement): TemplateHeader {
  const concept = requiredHeader(childText(template, 'concept'), 'concept');
  const language = codeOf(element(template, 'language'));
  const defaultLanguage = requiredHeader(language?.code ?? '', 'language');
  if (element(template, 'definition') === undefined) throw nilOrEmpty('definition');
  const description = templateDescription(element(template, 'description'));
  const writtenId = requiredHeader(childText(element(template, 'template_id'), 'value'), 'template id value');
  const templateId = requiredHeader(collapsedToken(writtenId), 'template id value');
  if (templateId.length > MAX_TEMPLATE_ID_LENGTH)
    throw invalidTemplate(
      `a template id can have at most ${MAX_TEMPLATE_ID_LENGTH} characters, this one has ${templateId.length}`,
    );
  checkElements(template);
  const uid = childText(element(template, 'uid'), 'value');
  return {
    templateId,
    concept,
    uid: uid === '' ? null : ownText(uid),
    isControlled:
      childText(template, 'is_controlled') === '' ? null : booleanOf(template, 'is_controlled', false),
    defaultLanguage,
    description,
  };
}

function nilOrEmpty(what: string): CdrError {
  return new CdrError('invalid', `Supplied template has nil or empty ${what}`, { about: 'template-text' });
}

function requiredHeader(value: string, what: string): string {
  if (value === '') throw nilOrEmpty(what);
  return ownText(value);
}

function checkElements(template: XmlElement): void {
  const seen = new Set<string>();
  for (const child of template.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '') throw unreadable('text between the elements of template');
      continue;
    }
    const occurrence = child.namespace === template.namespace ? TEMPLATE_ELEMENTS.get(child.name) : undefined;
    if (occurrence === undefined) throw unreadable(`unknown element ${child.name} in template`);
    if (occurrence === 'once' && seen.has(child.name))
      throw unreadable(`element ${child.name} occurs more than once in template`);
    seen.add(child.name);
  }
}

function templateDescription(description: XmlElement | undefined): TemplateDescription {
  const authors = elements(description, 'original_author');
  const details = elements(description, 'details');
  const lifecycleState = childText(description, 'lifecycle_state');
  if (description === undefined || authors.length === 0 || lifecycleState === '' || details.length === 0)
    throw nilOrEmpty('description');
  return {
    originalAuthor: itemsOf(description, 'original_author'),
    lifecycleState: ownText(lifecycleState),
    otherDetails: itemsOf(description, 'other_details'),
    details: details.map(descriptionDetails),
  };
}

function descriptionDetails(details: XmlElement): DescriptionDetails {
  const language = codeOf(element(details, 'language'));
  if (language === null) throw nilOrEmpty('description');
  return {
    language: ownText(language.code),
    purpose: ownText(childText(details, 'purpose')),
    keywords: elements(details, 'keywords').map((keyword) => ownText(text(keyword))),
    use: ownText(childText(details, 'use')),
    misuse: ownText(childText(details, 'misuse')),
    copyright: ownText(childText(details, 'copyright')),
  };
}

/** Terms of `ontology` and `component_ontologies` by archetype id and language. */
export function translationsOf(template: XmlElement): Map<string, Map<string, Terms>> {
  const translations = new Map<string, Map<string, Terms>>();
  for (const name of ['ontology', 'component_ontologies']) {
    for (const ontology of elements(template, name)) {
      const archetypeId = ownText(ontology.attributes.get('archetype_id') ?? '');
      const languages = translations.get(archetypeId) ?? new Map<string, Terms>();
      for (const definitions of elements(ontology, 'term_definitions')) {
        const language = ownText(definitions.attributes.get('language') ?? '');
        if (!languages.has(language)) languages.set(language, termsOf(elements(definitions, 'items')));
      }
      translations.set(archetypeId, languages);
    }
  }
  return translations;
}

/** All `annotations`. */
export function annotationsOf(template: XmlElement): Annotation[] {
  return elements(template, 'annotations').map((annotation) => ({
    path: ownText(annotation.attributes.get('path') ?? ''),
    items: itemsOf(annotation),
  }));
}

/** All default values of `constraints`. */
export function defaultsOf(template: XmlElement): DefaultValue[] {
  const defaults: DefaultValue[] = [];
  for (const attribute of elements(element(template, 'constraints'), 'attributes')) {
    for (const child of elements(attribute, 'children')) {
      const value = element(child, 'default_value');
      if (value === undefined) continue;
      defaults.push({
        path: ownText(childText(attribute, 'differential_path')),
        attribute: ownText(childText(attribute, 'rm_attribute_name')),
        rmType: xsiType(value),
        attributes: Object.fromEntries(flattened(value, '')),
      });
    }
  }
  return defaults;
}

/** Texts of the leaves by their path: `value`, `defining_code/code_string`. */
function flattened(node: XmlElement, path: string): [string, string][] {
  const below = elements(node);
  if (below.length === 0)
    return path === '' ? [['value', ownText(text(node))]] : [[path, ownText(text(node))]];
  return below.flatMap((child) => flattened(child, path === '' ? child.name : `${path}/${child.name}`));
}
