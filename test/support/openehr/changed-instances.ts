import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import type { Change } from '../../../openehr/template/difference/change.js';
import type { ExampleChoices } from '../../../openehr/template/example/example-value.js';
import { composedBy } from '../../../openehr/template/example/example.js';
import { codedText, localeOf, sampleObject } from '../../../openehr/template/example/sample.js';
import { textAt, typeOf } from '../../../openehr/rm/access.js';
import { attributesOf } from '../../../openehr/rm/model/classes.js';
import { readRm } from '../../../openehr/rm/read.js';
import { validateRm } from '../../../openehr/rm/invariants/validate.js';
import { validateAgainstTemplate } from '../../../openehr/template/validate.js';
import { formerTextsOf } from '../../../openehr/template/validate/former-texts.js';
import type { WebTemplateNode } from '../../../openehr/template/web-template/web-template.js';
import { archetypeDetails } from './broken-rules.js';
import { Random } from '../random.js';

const STRICT = { checkExtraNodes: true, checkContainerCardinality: true };

/** Whether an instance is valid by the reference model and by a template. */
export function isValid(composition: JsonObject, template: CompiledTemplate): boolean {
  const { object } = readRm(composition, 'COMPOSITION');
  if (object === null || validateRm(object).length > 0) return false;
  return validateAgainstTemplate(object, template, STRICT).length === 0;
}

/** What is wrong with an instance of an earlier template by a later one. */
export function violationsAfter(
  composition: JsonObject,
  before: CompiledTemplate,
  after: CompiledTemplate,
): string[] {
  const { object } = readRm(composition, 'COMPOSITION');
  if (object === null) return ['not read'];
  const formerTexts = formerTextsOf([before]);
  return validateAgainstTemplate(object, after, { ...STRICT, formerTexts }).map(
    ({ path, message }) => `${path}: ${message}`,
  );
}

/** A random instance in which the nodes of a path are there. */
export function randomInstance(
  template: CompiledTemplate,
  random: Random,
  wanted: ReadonlySet<WebTemplateNode> = new Set(),
  isSmall = false,
): JsonObject {
  let repeated = 0;
  const choices: ExampleChoices = {
    pick: (size) => (size === 0 ? 0 : random.below(size)),
    count(each, min, max) {
      const least = wanted.has(each) && max !== 0 ? Math.max(1, min) : min;
      const most = max === -1 ? least + 2 : Math.max(least, Math.min(max, least + 2));
      const count = isSmall || repeated >= MAX_REPEATED ? least : random.whole(least, most);
      repeated += count;
      return count;
    },
  };
  return composedBy(template, choices);
}

const MAX_REPEATED = 100;

function nodesOf(node: WebTemplateNode): WebTemplateNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

function chainOf(node: WebTemplateNode): WebTemplateNode[] {
  return node.parent === null ? [node] : [...chainOf(node.parent), node];
}

/** An object, and what holds it. */
interface Found {
  readonly object: JsonObject;
  readonly holder: JsonObject;
}

/** The objects that a node describes. */
function objectsOf(composition: JsonObject, node: WebTemplateNode): Found[] {
  let found: Found[] = [{ object: composition, holder: composition }];
  for (const step of chainOf(node).slice(1))
    found = found.flatMap(({ object: holder }) => {
      const value = holder[step.attribute];
      const objects = (Array.isArray(value) ? value : [value]).filter(isJsonObject);
      return objects.filter((object) => isOf(object, step)).map((object) => ({ object, holder }));
    });
  return found;
}

function isOf(object: JsonObject, { archetypeNodeId, nameConstraint, isSlot }: WebTemplateNode): boolean {
  if (isSlot) return textAt(object, 'archetype_node_id')?.startsWith('openEHR-') === true;
  if (archetypeNodeId !== null && object['archetype_node_id'] !== archetypeNodeId) return false;
  const { name } = object;
  return nameConstraint === null || (isJsonObject(name) && name['value'] === nameConstraint);
}

/**
 * An instance that is valid by the earlier template and not by the later one because of a breaking change; null when none is
 * found, `undefined` when none was valid by the earlier one that has the node: nothing can be broken then.
 */
export function brokenInstance(
  before: CompiledTemplate,
  after: CompiledTemplate,
  change: Change,
  tries = 60,
): JsonObject | null | undefined {
  const all = nodesOf(before.fullTree);
  const own = all.filter(({ aqlPath }) => aqlPath === change.path);
  const above = change.path.replace(/\/[^/]*$/, '');
  const nodes = own.length > 0 ? own : all.filter(({ aqlPath }) => aqlPath === above);
  const attribute = own.length > 0 ? null : change.path.slice(above.length + 1).replace(/\[.*$/, '');
  let isPossible = false;
  for (let seed = 1; seed <= tries; seed += 1) {
    const random = new Random(seed);
    const node = random.pick(nodes.length > 0 ? nodes : [before.fullTree]);
    const made = randomInstance(before, random, new Set(chainOf(node)), seed % 2 === 0);
    for (const instance of variants(made, node, change, attribute)) {
      if (!isValid(instance, before)) continue;
      isPossible ||= objectsOf(instance, node).length > 0;
      if (violationsAfter(instance, before, after).length > 0) return instance;
    }
  }
  return isPossible ? null : undefined;
}

function variants(
  made: JsonObject,
  node: WebTemplateNode,
  change: Change,
  attribute: string | null,
): JsonObject[] {
  const { example } = change;
  const changed = (apply: (found: Found) => void): JsonObject[] => {
    const instance = structuredClone(made);
    const [found] = objectsOf(instance, node);
    if (found === undefined) return [];
    apply(found);
    return [instance];
  };
  if (typeof example === 'number')
    return [
      made,
      ...[false, true].flatMap((isAlone) =>
        changed((found) => setCount(found, node, { attribute, count: example, isAlone })),
      ),
    ];
  if (!isJsonObject(example)) return [made];
  const asExample = changed(({ object, holder }) => {
    const target = attribute === null ? object : added(object, attribute);
    const { _type: type } = example;
    if (typeof type === 'string' && Object.keys(example).length === 1) {
      const sample = sampleObject(type, attribute ?? node.attribute, localeOf('en'));
      replace(attribute === null ? holder : object, attribute ?? node.attribute, target, sample);
    } else Object.assign(target, structuredClone(example), detailsOf(example));
  });
  return [made, ...asExample];
}

/** An object in an attribute, which the instance need not have. */
function added(object: JsonObject, attribute: string): JsonObject {
  const asked = attributesOf(typeOf(object)).get(attribute);
  const value = object[attribute];
  const [first] = Array.isArray(value) ? value : [value];
  if (isJsonObject(first) || asked === undefined) return isJsonObject(first) ? first : {};
  const sample = sampleObject(asked.type, attribute, localeOf('en'));
  object[attribute] = asked.multiple ? [sample] : sample;
  return sample;
}

/** An archetype root says of which archetype it is. */
function detailsOf({ archetype_node_id: id }: JsonObject): JsonObject {
  return typeof id === 'string' && id.startsWith('openEHR-')
    ? { archetype_details: archetypeDetails(id) }
    : {};
}

function replace(holder: JsonObject, attribute: string, from: JsonObject, to: JsonObject): void {
  const value = holder[attribute];
  if (Array.isArray(value)) value[value.indexOf(from)] = to;
  else holder[attribute] = to;
}

interface WantedCount {
  readonly attribute: string | null;
  readonly count: number;
  /** Without what may be absent beside: the container may hold no more. */
  readonly isAlone: boolean;
}

function setCount(
  { object, holder }: Found,
  node: WebTemplateNode,
  { attribute, count, isAlone }: WantedCount,
): void {
  const [where, name] = attribute === null ? [holder, node.attribute] : [object, attribute];
  const value = where[name];
  if (!Array.isArray(value)) {
    if (count === 0) Reflect.deleteProperty(where, name);
    if (where['_type'] === 'ELEMENT' && where['value'] === undefined)
      where['null_flavour'] = codedText('openehr', '253', 'unknown');
    return;
  }
  const isCounted = (item: JsonValue): boolean =>
    attribute !== null || (isJsonObject(item) && isOf(item, node));
  const needed = (node.parent?.children ?? []).filter(({ existenceMin }) => existenceMin > 0);
  const isKept = (item: JsonValue): boolean =>
    !isAlone || (isJsonObject(item) && needed.some((other) => isOf(item, other)));
  const others = value.filter((item) => !isCounted(item) && isKept(item));
  const counted = value.filter(isCounted);
  const wanted = Array.from({ length: count }, (_, index) =>
    structuredClone(counted[index % counted.length] ?? null),
  );
  const items = [...others, ...wanted].filter((item) => item !== null);
  if (items.length === 0) Reflect.deleteProperty(where, name);
  else where[name] = items;
}
