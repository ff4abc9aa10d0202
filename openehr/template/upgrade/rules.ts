import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';

/** How the data of one revision of a template become data of the next (docs/spec/formats.md#rules-of-an-upgrade). */
export type UpgradeRule =
  | { readonly move: string; readonly to: string }
  | { readonly map: string; readonly codes: Readonly<Record<string, string>> }
  | {
      readonly unit: string;
      readonly from: string;
      readonly to: string;
      readonly factor: number;
      readonly offset?: number;
    }
  | { readonly default: string; readonly value: JsonValue }
  | { readonly split: string; readonly pattern: string; readonly into: readonly string[] }
  | { readonly join: readonly string[]; readonly with: string; readonly into: string }
  | { readonly drop: string; readonly consent: true };

/** The path by which a rule is told from others. */
export function subjectOf(rule: UpgradeRule): string {
  if ('move' in rule) return rule.move;
  if ('map' in rule) return rule.map;
  if ('unit' in rule) return rule.unit;
  if ('default' in rule) return rule.default;
  if ('split' in rule) return rule.split;
  return 'drop' in rule ? rule.drop : rule.into;
}

type Check = (value: JsonValue | undefined) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const areTexts: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isText);
const isOptionalNumber: Check = (value) => value === undefined || isNumber(value);
const isTextMap: Check = (value) => isJsonObject(value) && Object.values(value).every(isText);

/** The members of each kind of rule, by the one that names it. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  move: { move: isText, to: isText },
  map: { map: isText, codes: isTextMap },
  unit: { unit: isText, from: isText, to: isText, factor: isNumber, offset: isOptionalNumber },
  default: { default: isText, value: (value) => value !== undefined && value !== null },
  split: { split: isText, pattern: isText, into: areTexts },
  join: { join: areTexts, with: isText, into: isText },
  drop: { drop: isText, consent: (value) => value === true },
};

/** Reads the rules of a file: `{"rules": […]}`. @throws invalid with the rule and what is wrong with it */
export function readRules(file: JsonValue): readonly UpgradeRule[] {
  const rules = isJsonObject(file) ? file.rules : undefined;
  if (!Array.isArray(rules)) throw new CdrError('invalid', 'rules of an upgrade are {"rules": […]}');
  return rules.map((rule, index) => {
    const problem = problemOf(rule);
    if (problem !== null) throw new CdrError('invalid', `rule ${index + 1}: ${problem}`);
    return rule as unknown as UpgradeRule;
  });
}

function problemOf(rule: JsonValue): string | null {
  if (!isJsonObject(rule)) return 'it is no object';
  const kind = Object.keys(KINDS).find((name) => Object.hasOwn(rule, name));
  const members = kind === undefined ? undefined : KINDS[kind];
  if (kind === undefined || members === undefined) return `it is none of ${Object.keys(KINDS).join(', ')}`;
  return memberProblem(rule, kind, members);
}

function memberProblem(
  rule: JsonObject,
  kind: string,
  members: Readonly<Record<string, Check>>,
): string | null {
  const unknown = Object.keys(rule).find((name) => members[name] === undefined);
  if (unknown !== undefined) return `${kind} knows no ${unknown}`;
  if (kind === 'drop' && rule.consent !== true) return 'drop loses data: it needs "consent": true';
  const wrong = Object.keys(members).find((name) => members[name]?.(rule[name]) === false);
  return wrong === undefined ? null : `${wrong} of ${kind} is missing or malformed`;
}
