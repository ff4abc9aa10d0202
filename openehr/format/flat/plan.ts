import { groupBy, memoized } from '../../base/maps.js';
import { isKindOf, isLocatable, withoutParameters } from '../../rm/model/classes.js';
import type { CompiledTemplate } from '../../template/compile.js';
import type { WebTemplateInput, WebTemplateNode } from '../../template/web-template/web-template.js';
import type { JsonObject, JsonValue } from '../../base/json.js';
import type { FlatScope } from './keys/keys.js';
import { counted } from '../../base/work.js';

/** One RM object of a template, prepared for FLAT. */
export interface PlanNode {
  /** Of the full tree. */
  readonly node: WebTemplateNode;
  /** RM class without generic parameter. */
  readonly type: string;
  /** Generic parameter: `DV_COUNT` of `DV_INTERVAL<DV_COUNT>`. */
  readonly parameter: string | null;
  /** Id under which its keys stand below those of the node above; null when it shares that one's keys. */
  readonly id: string | null;
  /** Whether an ELEMENT is skipped and this is its value, addressed by the id of the ELEMENT. */
  readonly isInline: boolean;
  /** Upper bound of the instances of `id`; -1 = any number. */
  readonly max: number;
  /** Inputs as clients see them. */
  readonly inputs: readonly WebTemplateInput[];
  /** Whether it is built from its children (the other types are read and written as one data value). */
  readonly isStructure: boolean;
  readonly children: readonly PlanNode[];
  /** The children by RM attribute, in template order. */
  readonly attributes: ReadonlyMap<string, readonly PlanNode[]>;
  /** Ids by which keys of the shared scope reach something inside; only of use where `id` is null. */
  readonly reach: ReadonlySet<string>;
  /** Ids that nodes of the template have in the scope that this node reads: they mean those nodes, nothing else. */
  readonly claimed: ReadonlySet<string>;
}

/** Structures that are no LOCATABLE. */
const OTHER_STRUCTURES = new Set(['EVENT_CONTEXT', 'ISM_TRANSITION', 'INSTRUCTION_DETAILS']);
/** Ids that lead into a node that has none of its own, by RM class, beside those of its children. */
const SHARED_IDS: readonly (readonly [string, readonly string[]])[] = [
  ['EVENT', ['time', 'math_function', 'width']],
  ['HISTORY', ['history_origin']],
];

/** The plan of a template; made once per compiled template. */
export const planOf = memoized((template: CompiledTemplate): PlanNode =>
  nodePlan(template.fullTree, false, null),
);

/** The only child at an attribute that is no list, null when the template does not mention it. */
export function childPlan(plan: PlanNode | null, attribute: string): PlanNode | null {
  return plan?.attributes.get(attribute)?.[0] ?? null;
}

/** `outer` are the claimed ids of the scope around; a node with an id opens one of its own. */
function nodePlan(node: WebTemplateNode, isInline: boolean, outer: Set<string> | null): PlanNode {
  const type = withoutParameters(node.rmType);
  const inline = inlineValue(node, type);
  const shown = isInline ? null : (inline ?? node).filtered;
  if (shown !== null) outer?.add(shown.id);
  const claimed = shown === null && outer !== null ? outer : new Set<string>();
  const children = counted(node.children)
    .filter((child) => !child.isSlot && !isMergedText(child, inline))
    .map((child) => nodePlan(child, child === inline, claimed));
  return {
    ...{ node, type, isInline, children, claimed },
    ...shownAs(shown, node),
    parameter: /^[^<]*<(.+)>$/.exec(node.rmType)?.[1] ?? null,
    inputs: (node.filtered ?? node).inputs,
    isStructure: isLocatable(type) || OTHER_STRUCTURES.has(type),
    attributes: groupBy(children, ({ node }) => node.attribute),
    reach: reachOf(type, children),
  };
}

function shownAs(shown: WebTemplateNode | null, node: WebTemplateNode): Pick<PlanNode, 'id' | 'max'> {
  return shown === null ? { id: null, max: node.max } : { id: shown.id, max: shown.max };
}

/** The value that stands for a skipped ELEMENT. */
function inlineValue(element: WebTemplateNode, type: string): WebTemplateNode | null {
  if (type !== 'ELEMENT' || element.filtered !== null) return null;
  return counted(element.children).find((child) => child.filtered !== null) ?? null;
}

/** The free text beside a coded text that both share one node (docs/spec/formats.md#filtering). */
function isMergedText(node: WebTemplateNode, inline: WebTemplateNode | null): boolean {
  return inline !== null && node !== inline && node.attribute === inline.attribute;
}

function reachOf(type: string, children: readonly PlanNode[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const [rmClass, shared] of SHARED_IDS)
    if (isKindOf(type, rmClass)) for (const id of counted(shared)) ids.add(id);
  for (const child of counted(children)) {
    if (child.id !== null) ids.add(child.id);
    else for (const id of counted(child.reach)) ids.add(id);
  }
  return ids;
}

/** What the `ctx/` keys set where the body itself says nothing (docs/spec/formats.md#ctx-keys). Null = not given. */
export interface FlatContext {
  readonly language: string | null;
  readonly territory: string | null;
  readonly composer: JsonObject | null;
  readonly composerIsSelf: boolean;
  readonly idScheme: string | null;
  readonly idNamespace: string | null;
  readonly time: string | null;
  readonly endTime: string | null;
  readonly historyOrigin: string | null;
  readonly actionTime: string | null;
  readonly currentState: JsonObject | null;
  readonly activityTiming: string | null;
  readonly narrative: string | null;
  readonly provider: JsonObject | null;
  readonly healthCareFacility: JsonObject | null;
  readonly location: string | null;
  readonly setting: JsonObject | null;
  readonly participations: readonly JsonObject[];
  readonly workFlowId: JsonObject | null;
  readonly links: readonly JsonObject[];
}

/** The key that an object was read from or is written to, without suffix, and its node. */
export interface FlatPlace {
  readonly path: string;
  readonly plan: PlanNode;
}

/** What all readers of one FLAT body share. */
export interface ReadEnvironment {
  readonly template: CompiledTemplate;
  readonly context: FlatContext;
  /** ISO 8601 date and time that `now` becomes. */
  readonly now: string;
  /** What the time of an entry becomes that nothing tells: the start of its context, else `now`. */
  readonly begun: string;
  /** Language of the COMPOSITION: that of texts which are filled in. */
  readonly language: string;
  /** Filled with what was ignored or replaced: one sentence each. */
  readonly warnings: string[];
  /** Filled with where each object came from; null: nobody asks. */
  readonly places: Map<JsonObject, FlatPlace> | null;
  /** Reads an object of a data type, a party or one of their parts; null when no key says anything about it. */
  readonly readValue: (type: string, scope: FlatScope, target: ReadTarget) => JsonValue | null;
}

/** Where a value that is being read belongs. */
export interface ReadTarget {
  readonly environment: ReadEnvironment;
  /** Null where the template says nothing about it. */
  readonly plan: PlanNode | null;
  /** RM attribute that holds it: decides openEHR groups and code sets. */
  readonly attribute: string;
  /** Data type of the bounds of an interval. */
  readonly parameter: string | null;
}

/** What all writers of one FLAT body share. */
export interface WriteEnvironment {
  readonly template: CompiledTemplate;
  readonly out: JsonObject;
  /** Filled with where each object went to; null: nobody asks. */
  readonly places: Map<JsonObject, FlatPlace> | null;
  /** Writes an object of a data type, a party or one of their parts below `key`. */
  readonly writeValue: (value: JsonValue, key: string, target: WriteTarget) => void;
}

/** Where a value that is being written belongs. */
export interface WriteTarget {
  readonly environment: WriteEnvironment;
  readonly plan: PlanNode | null;
}

/** Both directions of one RM class. */
export interface Codec {
  readonly read: (scope: FlatScope, target: ReadTarget, type: string) => JsonValue | null;
  readonly write: (value: JsonObject, key: string, target: WriteTarget) => void;
}
