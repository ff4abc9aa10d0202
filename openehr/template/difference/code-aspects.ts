import type { JsonObject, JsonValue } from '../../base/json.js';
import { codeSetCodes, groupCodes, valueSetOf } from '../../rm/terminology/openehr.js';
import { codePhrase, codedText } from '../example/sample.js';
import type { OrdinalConstraint } from '../opt/constraint.js';
import { codeExpectation, type CodeExpectation } from '../validate/code-check.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import { nameExpectation } from '../validate/name-check.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import type { Aspect } from './aspect.js';
import type { ChangedPart } from './change.js';

/** Alternatives; null: any code. */
type Expected = readonly CodeExpectation[] | null;

/** A code with a text that goes with it. */
interface SampleCode {
  readonly terminologyId: string;
  readonly code: string;
  readonly text: string;
}

/** The codes of a DV_CODED_TEXT or CODE_PHRASE. */
export function codeAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  const object = ({ terminologyId, code, text }: SampleCode): JsonObject =>
    before.rmType === 'CODE_PHRASE' ? codePhrase(terminologyId, code) : codedText(terminologyId, code, text);
  const [from, to] = [codesOf(before), codesOf(after)];
  return [aspectOf('codes', [from, to], sampleCodes(before, from, to).map(object))];
}

/** The codes of the name of a node. */
export function nameAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  const [from, to] = [before, after].map(nameExpectation).map((expected) => expected && [expected]);
  const codes = codesToTry(from ?? null, to ?? null).map(({ terminologyId, code, text }) => ({
    name: codedText(terminologyId, code, text),
  }));
  const plain = { name: { _type: 'DV_TEXT', value: before.name } };
  return [aspectOf('name', [from ?? null, to ?? null], [plain, ...codes])];
}

function aspectOf(
  what: ChangedPart,
  [from, to]: readonly [Expected, Expected],
  samples: readonly JsonObject[],
): Aspect {
  const said = { what, from: shownCodes(from), to: shownCodes(to), samples };
  return { ...said, isWithin: areCodesWithin(from, to), isNotMore: areCodesWithin(to, from) };
}

/** Null when any code will do, as where the node is no coded value. */
function codesOf({ rmType, constraint, inputs }: WebTemplateNode): Expected {
  if (constraint?.kind === 'quantity' || constraint?.kind === 'ordinal') return null;
  if (rmType !== 'DV_CODED_TEXT' && rmType !== 'CODE_PHRASE') return null;
  const lists = inputs.filter(({ suffix }) => suffix === 'code');
  const expected = lists.map(codeExpectation).filter((expectation) => expectation !== null);
  return expected.length === 0 || expected.length < lists.length ? null : expected;
}

/** Whether the codes of a coded value decide what it may be. */
export function hasCodes(node: WebTemplateNode): boolean {
  return codesOf(node) !== null;
}

/** All codes that a coded value may have, as far as they may be local ones; null when they are not listed. */
export function listedCodes(node: WebTemplateNode): readonly SampleCode[] | null {
  const local = localExpectations(node);
  if (local === null) return null;
  return codesToTry(local, null).filter(({ terminologyId }) => terminologyId !== NOBODY.terminologyId);
}

/** The same codes, each with whether a text is asked for beside it. */
export function localCodes(node: WebTemplateNode): ReadonlyMap<string, boolean> | null {
  const local = localExpectations(node);
  if (local === null) return null;
  return new Map(
    local.flatMap(({ codes }) =>
      [...(codes ?? [])].map(([code, labels]) => [code, labels.size > 0] as const),
    ),
  );
}

function localExpectations(node: WebTemplateNode): readonly CodeExpectation[] | null {
  const local = codesOf(node)?.filter(
    ({ terminologyId }) => terminologyId === null || isSameTerminology(terminologyId, 'local'),
  );
  return local === undefined || local.some(({ codes }) => codes === null) ? null : local;
}

function areCodesWithin(inner: Expected, outer: Expected): boolean {
  if (outer === null) return true;
  return inner?.every((one) => outer.some((other) => isExpectationWithin(one, other))) ?? false;
}

/** A text that a code had stays right (docs/spec/formats.md#template-differences): what counts is whether a text is asked for at all. */
function isExpectationWithin(inner: CodeExpectation, outer: CodeExpectation): boolean {
  if (outer.terminologyId !== null && !isSameTerminology(inner.terminologyId, outer.terminologyId))
    return false;
  const { codes } = outer;
  if (codes === null) return true;
  if (inner.codes === null) return false;
  return [...inner.codes].every(([code, labels]) => {
    const now = codes.get(code);
    return now !== undefined && (labels.size > 0 || now.size === 0);
  });
}

function isSameTerminology(one: string | null, other: string | null): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

function shownCodes(expected: Expected): JsonValue {
  if (expected === null) return null;
  const shown = expected.map(({ terminologyId, codes }): JsonObject => ({
    ...(terminologyId === null ? {} : { terminology: terminologyId }),
    ...(codes === null ? {} : { codes: [...codes.keys()] }),
  }));
  return shown.length === 1 ? (shown[0] ?? null) : shown;
}

/** What the reference model lets stand there, where it says so; else what the templates list, and codes of nobody. */
function sampleCodes(node: WebTemplateNode, from: Expected, to: Expected): SampleCode[] {
  const attribute = node.attribute === 'defining_code' ? (node.parent?.attribute ?? '') : node.attribute;
  const valueSet = valueSetOf(attribute);
  const codes = codesToTry(from, to);
  if (valueSet === null) return codes;
  const { terminologyId } = valueSet;
  const known = valueSet.kind === 'group' ? groupCodes(valueSet.name) : codeSetCodes(valueSet.name);
  const ofSet = [...known].map(([code, text]) => ({ terminologyId, code, text }));
  return [...codes.filter(({ code }) => known.has(code)), ...ofSet];
}

const NOBODY = { terminologyId: 'example', code: 'x1', text: 'Example' };

function codesToTry(from: Expected, to: Expected): SampleCode[] {
  const later = to?.map(({ terminologyId }) => terminologyId).filter((id) => id !== null) ?? [];
  const listed = (from ?? []).flatMap(({ terminologyId, codes }) =>
    [...(codes ?? [['x1', new Set<string>()] as const])].map(([code, labels]) => ({
      terminologyId: terminologyId ?? later[0] ?? 'local',
      code,
      text: [...labels][0] ?? 'Example',
    })),
  );
  return [...listed, NOBODY, ...later.map((terminologyId) => ({ ...NOBODY, terminologyId }))];
}

/** What is asked of value and symbol of a DV_ORDINAL. */
interface OrdinalRule {
  readonly constraint: OrdinalConstraint;
  readonly expected: CodeExpectation;
}

/** Value and symbol of a DV_ORDINAL. */
export function ordinalAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  const [from, to] = [ordinalOf(before), ordinalOf(after)];
  const samples = (from?.constraint.options ?? []).map(({ value, symbol: { terminologyId, code } }) => ({
    value,
    symbol: codedText(terminologyId, code, [...(from?.expected.codes?.get(code) ?? [])][0] ?? code),
  }));
  const nobody = { value: 1_001, symbol: codedText('local', 'x1', 'Example') };
  return [
    {
      what: 'codes',
      from: shownOrdinals(from),
      to: shownOrdinals(to),
      isWithin: areOrdinalsWithin(from, to),
      isNotMore: areOrdinalsWithin(to, from),
      samples: [...samples, nobody],
    },
  ];
}

/** Null when any ordinal will do. */
function ordinalOf({ constraint, inputs: [input] }: WebTemplateNode): OrdinalRule | null {
  if (constraint?.kind !== 'ordinal' || constraint.options.length === 0 || input === undefined) return null;
  const expected = codeExpectation(input);
  return expected === null ? null : { constraint, expected };
}

function areOrdinalsWithin(inner: OrdinalRule | null, outer: OrdinalRule | null): boolean {
  if (outer === null) return true;
  if (inner === null || !isExpectationWithin(inner.expected, outer.expected)) return false;
  return inner.constraint.options.every(({ value, symbol: { code } }) =>
    outer.constraint.options.some((option) => option.value === value && option.symbol.code === code),
  );
}

function shownOrdinals(rule: OrdinalRule | null): JsonValue {
  return rule?.constraint.options.map(({ value, symbol }) => ({ value, code: symbol.code })) ?? null;
}
