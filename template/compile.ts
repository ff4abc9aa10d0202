import type { JsonObject } from '../base/json.js';
import type { OperationalTemplate, TemplateDescription } from './constraint.js';
import { filteredTree } from './filtered-tree.js';
import { fullTree } from './full-tree.js';
import { matcherOf, type ObjectMatcher } from './matcher.js';
import { parseOpt } from './opt.js';
import { webTemplateJson } from './web-template-json.js';
import type { WebTemplateNode } from './web-template.js';

/** A template in the form that the rest of the product works with. */
export interface CompiledTemplate {
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
  /** The web template as clients get it (templates-and-formats section 2); built on each access. */
  readonly webTemplate: JsonObject;
  readonly opt: OperationalTemplate;
  /** The full tree as `validateAgainstTemplate` needs it. */
  readonly matcher: ObjectMatcher;
}

/**
 * Reads and compiles an operational template: once per template, the result is to be cached.
 * @throws invalid with the messages of templates-and-formats 1.5
 */
export function compileTemplate(optText: string): CompiledTemplate {
  const opt = parseOpt(optText);
  const full = fullTree(opt);
  const filtered = filteredTree(full, opt);
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
    get webTemplate() {
      return webTemplateJson(opt, filtered);
    },
    opt,
    matcher: matcherOf(full),
  };
}
