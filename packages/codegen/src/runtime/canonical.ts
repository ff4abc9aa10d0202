// Made by `everchart codegen templates`. Canonical JSON of the data of a template, and back.
import type { Shape } from './flat.js';
import { readLeaf, writeLeaf } from './values.js';

/** An RM object in canonical JSON. */
export interface Rm {
  _type: string;
  [attribute: string]: unknown;
}

/** A COMPOSITION in canonical JSON, to be committed. */
export interface Composition extends Rm {
  _type: 'COMPOSITION';
}

/** One RM object: its attribute (`*`: a list), class, node id, name, 1 where the name distinguishes it from others, code of the name. */
export type Step = readonly [
  at: string,
  type: string,
  node?: string,
  name?: string,
  named?: 0 | 1,
  code?: string,
];

/** A node of a template: what FLAT knows of it, and its place in a COMPOSITION. */
export interface Plan extends Shape {
  readonly of?: { readonly [id: string]: Plan };
  /** The RM objects from that of the node above, which is left out, to its own. Without: a node of FLAT alone. */
  readonly via?: readonly Step[];
  /** Instances at least, and at most. */
  readonly min?: number;
  readonly max?: number;
  /** Codes with their rubric; of ordinals and scales with their number. */
  readonly codes?: { readonly [code: string]: string | readonly [string, number] };
  readonly terminology?: string;
  /** The state that a careflow step leads to. */
  readonly states?: { readonly [code: string]: string };
  /** The only unit. */
  readonly unit?: string;
  /** The kind of a proportion. */
  readonly kind?: number;
  /** Another class stands at the same place: only this one is meant. */
  readonly exact?: true;
}

/** All that is known of a template. */
export interface TemplatePlan {
  readonly id: string;
  readonly language: string;
  readonly root: Plan;
  /** Rubrics of openEHR codes in that language. */
  readonly rubrics: { readonly [code: string]: string };
}

/** What holds for a COMPOSITION as a whole where the data say nothing: the names of `ctx/` in FLAT. */
export interface Context {
  /** ISO 639-1; that of the template unless given. */
  readonly language?: string;
  /** ISO 3166-1. */
  readonly territory?: string;
  readonly composer_name?: string;
  /** ISO 8601; now unless given. */
  readonly time?: string;
}

interface Making {
  readonly template: TemplatePlan;
  readonly language: string;
  readonly territory: string | undefined;
  readonly composer: string | undefined;
  readonly time: string;
  readonly wrong: string[];
}

interface Tree {
  readonly [member: string]: unknown;
}

/** The COMPOSITION of data. @throws TypeError naming all that is missing, unknown or too many */
export function toCanonical(template: TemplatePlan, data: object, ctx: Context): Composition {
  const { language = template.language, territory, composer_name: composer } = ctx;
  const time = ctx.time ?? new Date().toISOString();
  const making: Making = { template, language, territory, composer, time, wrong: [] };
  const object = structure(template.root, data as Tree, { making, path: '' });
  object['archetype_details'] = {
    ...(object['archetype_details'] as Rm),
    template_id: id('TEMPLATE_ID', template.id),
  };
  for (const attribute of ['territory', 'composer'])
    if (object[attribute] === undefined) making.wrong.push(`${attribute} is missing: say it in the context`);
  if (making.wrong.length > 0) throw new TypeError(`${template.id}: ${making.wrong.join('; ')}`);
  return object as Composition;
}

interface Place {
  readonly making: Making;
  readonly path: string;
}

function structure(plan: Plan, tree: Tree, place: Place): Rm {
  const object = newObject(plan.via?.at(-1) ?? ['', '']);
  const shared = new Map<string, Rm>([['', object]]);
  const { of = {} } = plan;
  const given = Object.entries(tree).filter(([, value]) => value !== undefined && value !== null);
  for (const [name, value] of given) {
    const path = below(place, name);
    const child = Object.hasOwn(of, name) ? of[name] : undefined;
    if (child?.via === undefined) place.making.wrong.push(`${path} has no canonical form here`);
    else putAll(shared, child, { value, path, making: place.making });
  }
  for (const [name, child] of Object.entries(of))
    count(child, given.find(([id]) => id === name)?.[1], { making: place.making, path: below(place, name) });
  for (const made of [...shared.values()].reverse()) finish(made, place.making);
  return object;
}

function below({ path }: Place, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

function count({ min = 0, max = 1 }: Plan, value: unknown, { path, making }: Place): void {
  const found = value === undefined ? 0 : Array.isArray(value) ? value.length : 1;
  if (found < min) making.wrong.push(found === 0 ? `${path} is missing` : `${path} must stand ${min} times`);
  if (max >= 0 && found > max) making.wrong.push(`${path} stands ${found} times, at most ${max} may`);
}

interface Given extends Place {
  readonly value: unknown;
}

function putAll(shared: Map<string, Rm>, plan: Plan, { value, path, making }: Given): void {
  const values = Array.isArray(value) ? (value as unknown[]) : [value];
  values.forEach((one, index) =>
    put(shared, plan, { value: one, path: plan.list === true ? `${path}:${index}` : path, making }),
  );
}

/** One instance. What stands above what repeats is shared with the other members of the object. */
function put(shared: Map<string, Rm>, plan: Plan, given: Given): void {
  const steps = plan.via ?? [];
  const last = steps.length - 1;
  const lists = steps.flatMap(([at], index) => (at.endsWith('*') ? [index] : []));
  const own = plan.list === true ? (lists.at(-1) ?? last) : last;
  let owner = sharedOwner(shared, steps.slice(0, own));
  const chain: Rm[] = [];
  for (const step of steps.slice(own, last)) {
    const next = newObject(step);
    attach(owner, step[0], next);
    chain.unshift(next);
    owner = next;
  }
  const step = steps[last] ?? ['', ''];
  attach(owner, step[0], valueOf(plan, step[1], given));
  for (const made of chain) finish(made, given.making);
  const state = plan.states?.[(given.value as { code?: string }).code ?? ''];
  if (state !== undefined) owner['current_state'] ??= openEhr(state, given.making);
}

function sharedOwner(shared: Map<string, Rm>, steps: readonly Step[]): Rm {
  let key = '';
  let owner = shared.get('') as Rm;
  for (const step of steps) {
    key += `/${step.join('|')}`;
    let next = shared.get(key);
    if (next === undefined) {
      next = newObject(step);
      attach(owner, step[0], next);
      shared.set(key, next);
    }
    owner = next;
  }
  return owner;
}

function valueOf(plan: Plan, type: string, { value, path, making }: Given): unknown {
  if (plan.of !== undefined) return structure(plan, value as Tree, { making, path });
  return writeLeaf(type, value, { ...plan, rubrics: making.template.rubrics });
}

function attach(owner: Rm, at: string, value: unknown): void {
  if (!at.endsWith('*')) owner[at] = value;
  else ((owner[at.slice(0, -1)] ??= []) as unknown[]).push(value);
}

function newObject([, type, node, name, , code]: Step): Rm {
  const object: Rm = { _type: type === 'ITEM_STRUCTURE' ? 'ITEM_TREE' : type };
  if (node === undefined) return object;
  const [terminology = '', code_string] = code?.split('::') ?? [];
  object['name'] =
    code_string === undefined
      ? { _type: 'DV_TEXT', value: name }
      : { _type: 'DV_CODED_TEXT', value: name, defining_code: phrase(terminology, code_string) };
  object['archetype_node_id'] = node;
  if (node.includes('.'))
    object['archetype_details'] = {
      _type: 'ARCHETYPED',
      archetype_id: id('ARCHETYPE_ID', node),
      rm_version: '1.0.4',
    };
  return object;
}

/** What the reference model asks for and nobody said: docs/spec/formats.md#flat-defaults of the server. */
const FILLS: readonly (readonly [RegExp, (object: Rm, making: Making) => void])[] = [
  [/^COMPOSITION$/, fillComposition],
  [/^EVENT_CONTEXT$/, fillContext],
  [/^(OBSERVATION|EVALUATION|INSTRUCTION|ACTION|ADMIN_ENTRY|GENERIC_ENTRY)$/, fillEntry],
  [/^(POINT_EVENT|INTERVAL_EVENT|EVENT)$/, fillEvent],
  [/^HISTORY$/, fillHistory],
  [/^ACTIVITY$/, fillActivity],
  [/^ISM_TRANSITION$/, (object, making) => (object['current_state'] ??= openEhr('532', making))],
  [/^DV_INTERVAL$/, fillInterval],
];

function finish(object: Rm, making: Making): void {
  for (const [type, fill] of FILLS) if (type.test(object._type)) fill(object, making);
}

function fillComposition(object: Rm, making: Making): void {
  object['language'] ??= phrase('ISO_639-1', making.language);
  if (making.territory !== undefined) object['territory'] ??= phrase('ISO_3166-1', making.territory);
  if (making.composer !== undefined)
    object['composer'] ??= { _type: 'PARTY_IDENTIFIED', name: making.composer };
  const isPersistent = isPersistentOnly(making.template.root);
  object['category'] ??= openEhr(isPersistent ? '431' : '433', making);
  if (!isPersistent) object['context'] ??= contextOf(making);
}

function isPersistentOnly({ of }: Plan): boolean {
  return '431' in (of?.['category']?.codes ?? {});
}

function contextOf(making: Making): Rm {
  const context: Rm = { _type: 'EVENT_CONTEXT' };
  fillContext(context, making);
  return context;
}

function fillContext(object: Rm, making: Making): void {
  object['start_time'] ??= { _type: 'DV_DATE_TIME', value: making.time };
  object['setting'] ??= openEhr('238', making);
}

function fillEntry(object: Rm, making: Making): void {
  object['language'] ??= phrase('ISO_639-1', making.language);
  object['encoding'] ??= phrase('IANA_character-sets', 'UTF-8');
  object['subject'] ??= { _type: 'PARTY_SELF' };
  if (object._type === 'INSTRUCTION') object['narrative'] ??= { _type: 'DV_TEXT', value: '<none>' };
  if (object._type !== 'ACTION') return;
  object['time'] ??= { _type: 'DV_DATE_TIME', value: making.time };
  object['ism_transition'] ??= { _type: 'ISM_TRANSITION', current_state: openEhr('532', making) };
}

function fillEvent(object: Rm, making: Making): void {
  const isInterval = object._type === 'INTERVAL_EVENT' || 'math_function' in object || 'width' in object;
  object._type = isInterval ? 'INTERVAL_EVENT' : 'POINT_EVENT';
  object['time'] ??= { _type: 'DV_DATE_TIME', value: making.time };
  if (!isInterval) return;
  object['width'] ??= { _type: 'DV_DURATION', value: 'P0D' };
  object['math_function'] ??= openEhr('640', making);
}

function fillHistory(object: Rm, making: Making): void {
  const events = (object['events'] ?? []) as { time: { value: string } }[];
  const [first = making.time] = events
    .map(({ time }) => time.value)
    .sort((one, other) => Date.parse(one) - Date.parse(other));
  object['origin'] ??= { _type: 'DV_DATE_TIME', value: first };
}

function fillActivity(object: Rm): void {
  object['timing'] ??= { _type: 'DV_PARSABLE', value: 'R1', formalism: 'timing' };
  object['action_archetype_id'] ??= '/.*/';
}

function fillInterval(object: Rm): void {
  for (const end of ['lower', 'upper']) {
    const isThere = object[end] !== undefined;
    object[`${end}_unbounded`] ??= !isThere;
    object[`${end}_included`] ??= isThere;
  }
}

function openEhr(code: string, { template }: Making): Rm {
  return {
    _type: 'DV_CODED_TEXT',
    value: template.rubrics[code] ?? code,
    defining_code: phrase('openehr', code),
  };
}

function phrase(terminology: string, code_string: string): Rm {
  return { _type: 'CODE_PHRASE', terminology_id: id('TERMINOLOGY_ID', terminology), code_string };
}

function id(_type: string, value: string): Rm {
  return { _type, value };
}

/** The data of a COMPOSITION; what the template does not know is left out. */
export function fromCanonical({ root }: TemplatePlan, composition: object): unknown {
  return readStructure(root, composition as Rm);
}

function readStructure({ of = {} }: Plan, object: Rm): unknown {
  const tree: { [member: string]: unknown } = {};
  for (const [name, plan] of Object.entries(of)) {
    const { via } = plan;
    if (via === undefined) continue;
    const values = follow([object], via, plan)
      .map((found) =>
        plan.of === undefined ? readLeaf(via.at(-1)?.[1] ?? '', found) : readStructure(plan, found as Rm),
      )
      .filter((value) => value !== undefined);
    if (values.length > 0) tree[name] = plan.list === true ? values : values[0];
  }
  return Object.keys(tree).length === 0 && Object.keys(of).length > 0 ? undefined : tree;
}

function follow(from: readonly unknown[], via: readonly Step[], plan: Plan): unknown[] {
  let found = [...from];
  for (const [index, step] of via.entries()) {
    const [at] = step;
    const isValue = index === via.length - 1 && step[2] === undefined;
    found = found
      .flatMap((object) => (object as Tree)[at.replace('*', '')] ?? [])
      .filter((object) => (isValue ? isOfType(object, step[1], plan) : isNode(object, step)));
  }
  return found;
}

function isNode(object: unknown, [, , node, name, named, code]: Step): boolean {
  const { archetype_node_id, name: given } = object as {
    archetype_node_id?: string;
    name?: { value?: string; defining_code?: { code_string?: string } };
  };
  if (archetype_node_id !== node) return false;
  if (named !== 1) return true;
  return code === undefined
    ? given?.value === name
    : given?.defining_code?.code_string === code.split('::')[1];
}

function isOfType(object: unknown, type: string, { exact }: Plan): boolean {
  const { _type } = object as { _type?: string };
  return (
    exact !== true ||
    _type === undefined ||
    _type === type ||
    (type === 'DV_INTERVAL' && _type.startsWith(type))
  );
}
