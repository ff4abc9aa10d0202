import type { Code, Constraint, OperationalTemplate } from '../opt/constraint.js';
import type { JsonObject, JsonValue } from '../../base/json.js';

/** Version of the web template format (docs/spec/formats.md#web-template-json). */
const WEB_TEMPLATE_VERSION = '2.3';

/** Texts by language code. */
export type LocalizedTexts = Readonly<Record<string, string>>;

/** Bounds of a number or, in a duration, of an ISO text. */
export interface WebTemplateRange {
  readonly min?: number | string;
  readonly minOp?: '>=' | '>';
  readonly max?: number | string;
  readonly maxOp?: '<=' | '<';
}

/** What an input may hold beyond its type. */
export interface WebTemplateValidation {
  readonly range?: WebTemplateRange;
  readonly precision?: WebTemplateRange;
  readonly pattern?: string;
}

/** One permitted value of an input. */
export interface WebTemplateListItem {
  /** Code, unit or text. */
  readonly value: string;
  readonly label?: string;
  readonly localizedLabels?: LocalizedTexts;
  readonly localizedDescriptions?: LocalizedTexts;
  /** DV_ORDINAL only. */
  readonly ordinal?: number;
  /** Careflow steps only: openEHR codes of the instruction states that the step leads to. */
  readonly currentStates?: readonly string[];
  readonly validation?: WebTemplateValidation;
}

/** Kind of value that an input takes. */
export type WebTemplateInputType =
  'TEXT' | 'CODED_TEXT' | 'DECIMAL' | 'INTEGER' | 'BOOLEAN' | 'DATE' | 'TIME' | 'DATETIME';

/** One part of a data value that a user enters. */
export interface WebTemplateInput {
  /** Absent for the value as a whole. */
  readonly suffix?: string;
  readonly type: WebTemplateInputType;
  readonly list?: readonly WebTemplateListItem[];
  readonly listOpen?: boolean;
  readonly validation?: WebTemplateValidation;
  readonly terminology?: string;
  readonly defaultValue?: string | number;
}

/** Size of a container that is narrower than the sum of its children. */
interface WebTemplateCardinality {
  readonly min: number;
  readonly max: number;
  readonly ids: readonly string[];
}

/** Kind of a ratio, in the order of the codes 0 to 4 of PROPORTION_KIND. */
export const PROPORTION_TYPES = ['ratio', 'unitary', 'percent', 'fraction', 'integer_fraction'] as const;

/** See `PROPORTION_TYPES`. */
export type ProportionType = (typeof PROPORTION_TYPES)[number];

/** The fields of a node that clients see (docs/spec/formats.md#web-template-json). */
export interface WebTemplateFields {
  readonly id: string;
  readonly name: string;
  readonly localizedName?: string | undefined;
  readonly rmType: string;
  readonly nodeId?: string | undefined;
  readonly min: number;
  /** -1 = any number. */
  readonly max: number;
  readonly localizedNames?: LocalizedTexts | undefined;
  readonly localizedDescriptions?: LocalizedTexts | undefined;
  /** '' for the root. */
  readonly aqlPath: string;
  readonly inputs: readonly WebTemplateInput[];
  readonly inContext?: boolean | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly proportionTypes?: readonly ProportionType[] | undefined;
  readonly cardinalities?: readonly WebTemplateCardinality[] | undefined;
}

/**
 * A node of the full or of the filtered tree.
 *
 * Full tree: one node per RM object, so that `attribute` and `archetypeNodeId` of the nodes from the root down give
 * the place of the object in a COMPOSITION. It holds the nodes of the template and the RM attributes of
 * docs/spec/formats.md#added-attributes; the optional ones that FLAT reaches by `_` are not nodes (unless the
 * template constrains them): they follow from `rmType` and the RM class table.
 *
 * Filtered tree: copies of some of those nodes. The RM objects between a filtered node and its filtered parent are
 * the nodes of the full tree from `full` up to `parent.full`.
 */
export interface WebTemplateNode extends WebTemplateFields {
  readonly children: readonly WebTemplateNode[];
  /** Above it in the same tree; null for the root. */
  readonly parent: WebTemplateNode | null;
  /** The node of the full tree that this node stands for (itself in the full tree). */
  readonly full: WebTemplateNode;
  /**
   * The node of the filtered tree that stands for this node (itself in the filtered tree), null when it was
   * filtered out. An ELEMENT that is skipped has null; its value node has the filtered node.
   */
  readonly filtered: WebTemplateNode | null;
  /** RM attribute of the object above (full tree) that holds this object; '' for the root. */
  readonly attribute: string;
  /** That attribute is a container in the RM. */
  readonly multiple: boolean;
  /** `archetype_node_id` in data: archetype id for roots, else at-code; null when the class is not LOCATABLE. */
  readonly archetypeNodeId: string | null;
  /** Name that the data must carry (the name in the path predicate), null when any name will do. */
  readonly nameConstraint: string | null;
  /** Code of that name when the template asks for a DV_CODED_TEXT as `name`. */
  readonly nameCode: Code | null;
  /** The constraint it was made from, null for RM attributes that were added. */
  readonly constraint: Constraint | null;
  /** Archetype slot: any fitting archetype may stand there, it is never in the filtered tree. */
  readonly isSlot: boolean;
  /** One of several nodes at the same aqlPath (alternative data types of a value). */
  readonly isChoice: boolean;
  /** Lower bound for validation: 0 when the attribute as a whole may be missing, else `min`. */
  readonly existenceMin: number;
}

/**
 * The web template as clients get it, to be written as JSON: it shares texts and lists with the nodes; `tree`
 * is the filtered tree (docs/spec/formats.md#web-template-json).
 */
export function webTemplateJson(opt: OperationalTemplate, tree: WebTemplateNode): JsonObject {
  return {
    templateId: opt.templateId,
    version: WEB_TEMPLATE_VERSION,
    defaultLanguage: opt.defaultLanguage,
    languages: [...opt.languages],
    tree: nodeJson(tree),
  };
}

function nodeJson(node: WebTemplateNode): JsonObject {
  const fields: Record<string, unknown> = {
    id: node.id,
    name: node.name,
    localizedName: node.localizedName,
    rmType: node.rmType,
    nodeId: node.nodeId,
    min: node.min,
    max: node.max,
    localizedNames: node.localizedNames,
    localizedDescriptions: node.localizedDescriptions,
    annotations: node.annotations,
    aqlPath: node.aqlPath,
    proportionTypes: node.proportionTypes,
    cardinalities: node.cardinalities,
    children: node.children.map(nodeJson),
    inputs: node.inputs,
    inContext: node.inContext === true ? true : undefined,
  };
  const json: JsonObject = {};
  for (const [name, value] of Object.entries(fields))
    if (!isEmptyMember(value)) json[name] = value as JsonValue;
  return json;
}

function isEmptyMember(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
