import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { objectAt, textAt } from '../../rm/access.js';
import type { CompiledTemplate } from '../compile.js';
import { wholeTextPattern } from '../opt/whole-text-pattern.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { chainsAt, commonLength, nodeAt, nodesAt, rulePath, type Chain, type RulePath } from './path.js';
import { putIn, takeOut } from './places.js';
import { subjectOf, type UpgradeRule } from './rules.js';
import { converted, labelOf, languageOf, valueOf } from './values.js';

/** Why a rule could not do its work in one COMPOSITION. */
interface UpgradeProblem {
  /** Of the rule in its file, from 1. */
  readonly rule: number;
  readonly path: string;
  readonly reason: string;
}

/** A COMPOSITION as rules leave it: not one to be stored where there are problems. */
export interface UpgradedComposition {
  readonly composition: JsonObject;
  /** How many objects each rule changed. */
  readonly changed: readonly number[];
  readonly problems: readonly UpgradeProblem[];
}

/** What one rule does with a COMPOSITION that may be changed: how many objects, and what it could not do. */
type Apply = (composition: JsonObject, language: string) => { changed: number; problems: string[] };

/**
 * Prepares the rules that make data of the earlier revision of a template those of the later one. What comes out is to be
 * validated: rules do not promise that it is valid. @throws invalid for a path that no revision has
 */
export function upgradeBy(
  rules: readonly UpgradeRule[],
  before: CompiledTemplate,
  after: CompiledTemplate,
): (composition: JsonObject) => UpgradedComposition {
  const prepared = rules.map((rule, index) => {
    try {
      return {
        path: subjectOf(rule),
        apply: prepare(rule, { before: before.fullTree, after: after.fullTree }),
      };
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
      throw new CdrError('invalid', `rule ${index + 1}: ${error.message}`, { cause: error });
    }
  });
  return (given) => {
    const composition = structuredClone(given);
    const language = languageOf(composition);
    const done = prepared.map(({ apply }) => apply(composition, language));
    return {
      composition,
      changed: done.map(({ changed }) => changed),
      problems: done.flatMap(({ problems }, index) =>
        problems.map((reason) => ({ rule: index + 1, path: prepared[index]?.path ?? '', reason })),
      ),
    };
  };
}

interface Trees {
  readonly before: WebTemplateNode;
  readonly after: WebTemplateNode;
}

function prepare(rule: UpgradeRule, trees: Trees): Apply {
  if ('move' in rule)
    return moving(placeIn(trees.before, rule.move), placeIn(trees.after, rule.to), trees.after);
  if ('map' in rule) return mapping(valueIn(trees.before, rule.map), rule.codes, trees.after);
  if ('unit' in rule) return eachValue(valueIn(trees.before, rule.unit), (value) => converted(value, rule));
  if ('default' in rule) return defaulting(valueIn(trees.after, rule.default), rule.value, trees.after);
  if ('split' in rule)
    return splitting(
      valueIn(trees.before, rule.split),
      wholeTextPattern(rule.pattern),
      rule.into.map((path) => valueIn(trees.after, path)),
      trees.after,
    );
  if ('join' in rule)
    return joining(
      rule.join.map((path) => valueIn(trees.before, path)),
      rule.with,
      valueIn(trees.after, rule.into),
      trees.after,
    );
  return dropping(placeIn(trees.before, rule.drop));
}

/** A path, and the node at it. */
interface Place {
  readonly path: RulePath;
  readonly node: WebTemplateNode;
}

function placeIn(tree: WebTemplateNode, text: string): Place {
  const path = rulePath(text);
  const node = nodeAt(tree, path);
  if (node === null) throw new CdrError('invalid', `the template has no ${text}`);
  return { path, node };
}

/** The same, of the value of an ELEMENT where the path is that of an ELEMENT. */
function valueIn(tree: WebTemplateNode, text: string): Place {
  const place = placeIn(tree, text);
  return place.node.rmType === 'ELEMENT' ? placeIn(tree, `${text}/value`) : place;
}

/** The objects at a path below each object at its first steps. */
function below(
  composition: JsonObject,
  path: RulePath,
  common: number,
): { top: JsonObject; chains: Chain[] }[] {
  return chainsAt(composition, path.slice(0, common)).flatMap((chain) => {
    const top = chain.at(-1);
    return top === undefined ? [] : [{ top, chains: chainsAt(top, path.slice(common)) }];
  });
}

function moving(from: Place, to: Place, tree: WebTemplateNode): Apply {
  const common = Math.min(commonLength(from.path, to.path), to.path.length - 1, from.path.length - 1);
  return (composition, language) => {
    const [problems, rest]: [string[], RulePath] = [[], from.path.slice(common)];
    let changed = 0;
    for (const { top, chains } of below(composition, from.path, common))
      for (const chain of chains) {
        const object = chain.at(-1);
        if (object === undefined) continue;
        takeOut(chain, rest);
        const problem = putIn(top, object, { tree, path: to.path, from: common, language });
        if (problem === null) changed += 1;
        else problems.push(problem);
      }
    return { changed, problems };
  };
}

/** Changes the objects at a path where they stand. Gives the same object where nothing changes. */
function eachValue({ path }: Place, change: (value: JsonObject, language: string) => JsonObject): Apply {
  return (composition, language) => {
    let changed = 0;
    for (const chain of chainsAt(composition, path)) {
      const value = chain.at(-1);
      const after = value === undefined ? undefined : change(value, language);
      if (value === undefined || after === undefined || JSON.stringify(value) === JSON.stringify(after))
        continue;
      for (const name of Object.keys(value)) Reflect.deleteProperty(value, name);
      Object.assign(value, after);
      changed += 1;
    }
    return { changed, problems: [] };
  };
}

function mapping(place: Place, codes: Readonly<Record<string, string>>, tree: WebTemplateNode): Apply {
  const nodes = nodesAt(tree, place.path);
  return eachValue(place, (value, language) => {
    const coded = value._type === 'DV_ORDINAL' ? value.symbol : value;
    const code = textAt(coded, 'defining_code', 'code_string') ?? textAt(coded, 'code_string') ?? '';
    const next = Object.hasOwn(codes, code) ? codes[code] : undefined;
    if (next === undefined || !isJsonObject(coded)) return value;
    const labels = nodes.map((node) => labelOf(node, next, language));
    const recoded = withCode(coded, next, labels.find((label) => label !== null) ?? null);
    return coded === value ? recoded : { ...value, ...ordinalOf(nodes, next), symbol: recoded };
  });
}

function withCode(coded: JsonObject, code: string, label: string | null): JsonObject {
  if (coded._type === 'CODE_PHRASE') return { ...coded, code_string: code };
  const phrase = { ...objectAt(coded, 'defining_code'), code_string: code };
  return { ...coded, ...(label === null ? {} : { value: label }), defining_code: phrase };
}

/** The number that goes with the symbol of a DV_ORDINAL. */
function ordinalOf(nodes: readonly WebTemplateNode[], code: string): { value?: number } {
  const options = nodes.flatMap(({ constraint }) =>
    constraint?.kind === 'ordinal' ? constraint.options : [],
  );
  const option = options.find(({ symbol }) => symbol.code === code);
  return option === undefined ? {} : { value: option.value };
}

/** A value where none is: in each object that could hold it, and whose archetype is there. */
function defaulting({ path, node }: Place, given: JsonValue, tree: WebTemplateNode): Apply {
  valueOf(node, given, 'en');
  const first = Math.max(firstMade(path, tree), 0);
  return (composition, language) => {
    const problems: string[] = [];
    let changed = 0;
    for (let from = path.length - 1; from >= first; from -= 1)
      for (const chain of chainsAt(composition, path.slice(0, from))) {
        const top = chain.at(-1);
        // What says why it has no value has none on purpose.
        if (top === undefined || top.null_flavour !== undefined) continue;
        if (chainsAt(top, path.slice(from, from + 1)).length > 0) continue;
        const problem = putIn(top, valueOf(node, given, language), { tree, path, from, language });
        if (problem === null) changed += 1;
        else problems.push(problem);
      }
    return { changed, problems };
  };
}

const MADE = new Set(['CLUSTER', 'ELEMENT', 'ITEM_TREE', 'ITEM_LIST']);

/** The first step of a path that is made where it is missing: what holds it stands for an archetype or an entry. */
function firstMade(path: RulePath, tree: WebTemplateNode): number {
  let first = path.length - 1;
  while (first > 0 && MADE.has(nodeAt(tree, path.slice(0, first))?.rmType ?? '')) first -= 1;
  return first;
}

function splitting(
  from: Place,
  pattern: ReturnType<typeof wholeTextPattern>,
  into: readonly Place[],
  tree: WebTemplateNode,
): Apply {
  const common = Math.min(from.path.length - 1, ...into.map(({ path }) => commonLength(from.path, path)));
  return (composition, language) => {
    const problems: string[] = [];
    let changed = 0;
    for (const { top, chains } of below(composition, from.path, common))
      for (const chain of chains) {
        const groups = pattern.groups(textAt(chain.at(-1), 'value') ?? '');
        if (groups === null) {
          problems.push('the text does not match the pattern');
          continue;
        }
        takeOut(chain, from.path.slice(common));
        for (const [index, { path, node }] of into.entries()) {
          const part = groups[index] ?? null;
          if (part === null || part === '') continue;
          const problem = tried(() =>
            putIn(top, valueOf(node, part, language), { tree, path, from: common, language }),
          );
          if (problem !== null) problems.push(problem);
        }
        changed += 1;
      }
    return { changed, problems };
  };
}

/** Why something is not done, if only since a text is no value. */
function tried(put: () => string | null): string | null {
  try {
    return put();
  } catch (error) {
    if (error instanceof CdrError) return error.message;
    throw error;
  }
}

function joining(from: readonly Place[], separator: string, into: Place, tree: WebTemplateNode): Apply {
  const common = Math.min(
    into.path.length - 1,
    ...from.map(({ path }) => Math.min(path.length - 1, commonLength(path, into.path))),
  );
  return (composition, language) => {
    const problems: string[] = [];
    let changed = 0;
    const [first] = from;
    for (const top of chainsAt(composition, (first ?? into).path.slice(0, common)).map((chain) =>
      chain.at(-1),
    )) {
      if (top === undefined) continue;
      const parts = from.flatMap(({ path }) =>
        chainsAt(top, path.slice(common)).map((chain) => ({ chain, rest: path.slice(common) })),
      );
      const texts = parts
        .map(({ chain }) => textAt(chain.at(-1), 'value'))
        .filter((text) => text !== undefined);
      if (texts.length === 0) continue;
      for (const { chain, rest } of parts) takeOut(chain, rest);
      const target = { tree, path: into.path, from: common, language };
      const problem = tried(() => putIn(top, valueOf(into.node, texts.join(separator), language), target));
      if (problem === null) changed += 1;
      else problems.push(problem);
    }
    return { changed, problems };
  };
}

function dropping({ path }: Place): Apply {
  return (composition) => {
    const chains = chainsAt(composition, path);
    for (const chain of chains) takeOut(chain, path);
    return { changed: chains.length, problems: [] };
  };
}
