import type { OperationalTemplate, TemplateDescription } from './constraint.js';
import { filteredTree } from '../web-template/filtered-tree.js';
import { fullTree } from '../web-template/full-tree.js';
import { matcherOf, type ObjectMatcher } from '../validate/matcher.js';
import { parseOpt } from './opt.js';
import { webTemplateJson } from '../web-template/web-template-json.js';
import { Scope } from '../scope.js';
import type { WebTemplateNode } from '../web-template/web-template.js';

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
  /** The web template as clients get it (docs/spec/formats.md#web-template-json): JSON in UTF-8. */
  readonly webTemplateText: Buffer;
  /** About how much memory all this takes. */
  readonly estimatedBytes: number;
  readonly opt: OperationalTemplate;
  /** The full tree as `validateAgainstTemplate` needs it. */
  readonly matcher: ObjectMatcher;
}

/**
 * Reads and compiles an operational template: once per template, the result is to be cached.
 * @throws invalid with the messages of docs/spec/formats.md#opt-errors
 */
export function compileTemplate(optText: string): CompiledTemplate {
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
    matcher: matcherOf(full, Scope.of(opt)),
  };
}

/** Measured: a compiled template takes 2.5 to 3.5 KB for each node of its full tree. */
const BYTES_OF_NODE = 4_096;

/** Terms that no node shows are kept as well: they are part of the text, with up to two bytes for a character. */
function estimatedBytes(optText: string, full: WebTemplateNode, webTemplateText: Buffer): number {
  return 2 * optText.length + BYTES_OF_NODE * countOf(full) + webTemplateText.byteLength;
}

function countOf(node: WebTemplateNode): number {
  let count = 1;
  for (const child of node.children) count += countOf(child);
  return count;
}
