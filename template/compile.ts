import type { JsonObject } from '../base/json.js';
import type { OperationalTemplate, TemplateDescription } from './constraint.js';
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
  /** The web template as clients get it (templates-and-formats section 2). */
  readonly webTemplate: JsonObject;
  readonly opt: OperationalTemplate;
}
