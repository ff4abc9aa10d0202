import { categoryCondition, type Category } from './categories.js';
import { all, any, FALSE, holds, not, type Condition } from './condition.js';
import type { AccessObject } from './object.js';
import { translatedPolicy, type Policy } from './policy.js';
import type { Expression, PolicyJson } from './policy-json.js';
import type { ObjectType } from './schema.js';
import { RESEARCH_PURPOSES } from './purposes.js';

/** What an EHR or something in it can be marked with. docs/access.md#marks */
export const MARK_KINDS = ['restriction_of_processing', 'patient_restriction', 'research_objection'] as const;

/** Kind of a mark. */
export type MarkKind = (typeof MARK_KINDS)[number];

/** What a mark is about; with nothing of it all that is in the EHR, and the EHR itself. */
export interface MarkScope {
  /** A container, and those that merges joined it to. */
  readonly objects?: readonly string[];
  readonly template_id?: string;
  /** As the map has it. */
  readonly category?: Category;
  readonly origin?: string;
  /** When what is in it took place, or where that is not said when it was committed: ms since 1970, both included. */
  readonly from?: number;
  readonly to?: number;
}

/** A mark that holds for an EHR. */
export interface AccessMark {
  readonly kind: MarkKind;
  /** It holds for people of this organisation, and for those of whom none is known. Absent: for everybody. */
  readonly organisation?: string;
  readonly scope: MarkScope;
}

/** Whether it is about all of the EHR. */
export function coversEhr({ scope }: AccessMark): boolean {
  return Object.values(scope).every((each) => each === undefined);
}

/** Whether only the content of a VERSION says that it is meant. */
export function asksContentOf({ scope }: AccessMark): boolean {
  const { category, origin, from, to } = scope;
  return [category, origin, from, to].some((each) => each !== undefined);
}

/** Those of these marks that hold for somebody of an organisation. */
export function marksFor<M extends Pick<AccessMark, 'organisation'>>(
  marks: readonly M[],
  organisation: string | undefined,
): readonly M[] {
  return marks.filter(
    (mark) =>
      mark.organisation === undefined || organisation === undefined || mark.organisation === organisation,
  );
}

/** The VERSIONs of an EHR that a mark is about; what picks some of them picks COMPOSITIONs. */
function scopeCondition({ objects, template_id, category, origin, from, to }: MarkScope): Condition {
  if (objects !== undefined) return { kind: 'object', among: objects };
  const picked = [
    ...(template_id === undefined ? [] : [equals('template_id', template_id)]),
    ...(category === undefined ? [] : [categoryCondition(category)]),
    ...(origin === undefined ? [] : [equals('origin', origin)]),
    ...(from === undefined && to === undefined ? [] : [timeCondition(from, to)]),
  ];
  return picked.length === 0 ? all([]) : all([equals('kind', 'COMPOSITION'), ...picked]);
}

function equals(attribute: string, value: string): Condition {
  return { kind: 'equals', attribute, among: [value] };
}

function timeCondition(from: number | undefined, to: number | undefined): Condition {
  const within = (attribute: string): Condition =>
    all([
      ...(from === undefined ? [] : [{ kind: 'compare', attribute, comparator: '>=', time: from } as const]),
      ...(to === undefined ? [] : [{ kind: 'compare', attribute, comparator: '<=', time: to } as const]),
    ]);
  const hasStart: Condition = { kind: 'has', attribute: 'start_time' };
  return any([within('start_time'), all([not(hasStart), within('time_committed')])]);
}

/** The same object with the kinds of those marks that are on it. `marks`: that hold for its EHR, and for who asks. */
export function marked(object: AccessObject, marks: readonly AccessMark[]): AccessObject {
  const on = marks.filter((mark) => isOn(mark, object)).map(({ kind }) => kind);
  return { ...object, attributes: { ...object.attributes, marks: [...new Set(on)].sort() } };
}

/** Whether a mark that holds for the EHR of an object is on that. */
export function isOn(mark: AccessMark, object: AccessObject): boolean {
  return coversEhr(mark) || (object.type === 'Version' && holds(scopeCondition(mark.scope), object));
}

/** Kinds of marks that a condition asks for. */
export function marksAsked(condition: Condition): readonly MarkKind[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return [...new Set(condition.of.flatMap((each) => marksAsked(each)))];
    case 'not':
      return marksAsked(condition.of);
    case 'contains':
      return isOfMarks(condition) ? MARK_KINDS.filter((kind) => condition.among.includes(kind)) : [];
    case 'empty':
      return isOfMarks(condition) ? MARK_KINDS : [];
    default:
      return [];
  }
}

function isOfMarks(condition: Condition): boolean {
  return 'attribute' in condition && condition.attribute === 'marks';
}

/** A condition that says what has a mark in place of asking for marks, which are stored beside what they are on. */
export function withMarksNamed(condition: Condition, conditionOf: (kind: MarkKind) => Condition): Condition {
  const named = (kinds: readonly MarkKind[]): Condition => any(kinds.map((kind) => conditionOf(kind)));
  switch (condition.kind) {
    case 'all':
      return all(condition.of.map((each) => withMarksNamed(each, conditionOf)));
    case 'any':
      return any(condition.of.map((each) => withMarksNamed(each, conditionOf)));
    case 'not':
      return not(withMarksNamed(condition.of, conditionOf));
    default:
      if (!isOfMarks(condition)) return condition;
      if (condition.kind === 'has') return not(FALSE);
      return condition.kind === 'empty' ? not(named(MARK_KINDS)) : named(marksAsked(condition));
  }
}

/** A mark with the EHRs that it holds for: the one that it was set on, and those that merges took that to. */
export interface PlacedMark extends AccessMark {
  readonly ehrIds: readonly string[];
}

/** What has one of these marks, of one type, by the ids of EHRs and containers. */
export function placedCondition(marks: readonly PlacedMark[], type: ObjectType): Condition {
  const whole = marks.filter((mark) => coversEhr(mark));
  const ofEhrs = whole.length === 0 ? FALSE : inEhrs(whole);
  if (type === 'Ehr') return ofEhrs;
  const groups = scopesOf(marks).map(([first, ...others]) =>
    first.scope.objects === undefined
      ? all([inEhrs([first, ...others]), scopeCondition(first.scope)])
      : scopeCondition(first.scope),
  );
  return any([ofEhrs, ...groups]);
}

/** Marks that are about a part of an EHR, those about the same part of different ones together. */
export function scopesOf(
  marks: readonly PlacedMark[],
): readonly (readonly [PlacedMark, ...(readonly PlacedMark[])])[] {
  const groups = new Map<string, [PlacedMark, ...PlacedMark[]]>();
  for (const mark of marks) {
    if (coversEhr(mark)) continue;
    const { objects, template_id, category, origin, from, to } = mark.scope;
    const key = JSON.stringify([objects, template_id, category?.name, origin, from, to]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [mark]);
    else known.push(mark);
  }
  return [...groups.values()];
}

function inEhrs(marks: readonly PlacedMark[]): Condition {
  const among = [...new Set(marks.flatMap(({ ehrIds }) => ehrIds))].sort();
  return { kind: 'equals', attribute: 'ehr_id', among };
}

/** Actions that a restriction of the patient forbids: what is new may still be written down. */
const ON_WHAT_IS_THERE = ['read', 'query', 'export', 'update', 'delete'] as const;

const RESOURCE: Expression = { Var: 'resource' };
const PRINCIPAL: Expression = { Var: 'principal' };
const attribute = (left: Expression, attr: string): Expression => ({ '.': { left, attr } });
const has = (left: Expression, attr: string): Expression => ({ has: { left, attr } });
const and = (left: Expression, right: Expression): Expression => ({ '&&': { left, right } });
const contains = (left: Expression, right: Expression): Expression => ({ contains: { left, right } });
const isMarked = (kind: MarkKind): Expression => contains(attribute(RESOURCE, 'marks'), { Value: kind });

const ALL = { op: 'All' };
const isOwn: Expression = and(has(PRINCIPAL, 'ehr'), {
  '==': { left: attribute(PRINCIPAL, 'ehr'), right: attribute(RESOURCE, 'ehr_id') },
});
const isResearch: Expression = contains(
  { Set: RESEARCH_PURPOSES.map((code) => ({ Value: code })) },
  attribute(PRINCIPAL, 'purpose'),
);

/** What marks mean, as the policies that forbid it. docs/access.md#what-marks-mean has the same in Cedar. */
export const MARK_POLICY_JSON: Readonly<Record<MarkKind, PolicyJson>> = {
  restriction_of_processing: {
    effect: 'forbid',
    principal: ALL,
    action: ALL,
    resource: ALL,
    conditions: [{ kind: 'when', body: isMarked('restriction_of_processing') }],
  },
  patient_restriction: {
    effect: 'forbid',
    principal: ALL,
    action: { op: 'in', entities: ON_WHAT_IS_THERE.map((id) => ({ type: 'Action', id })) },
    resource: ALL,
    conditions: [
      { kind: 'when', body: isMarked('patient_restriction') },
      { kind: 'unless', body: isOwn },
    ],
    annotations: { emergency: 'may pass' },
  },
  research_objection: {
    effect: 'forbid',
    principal: ALL,
    action: ALL,
    resource: ALL,
    conditions: [
      { kind: 'when', body: and(and(isMarked('research_objection'), has(PRINCIPAL, 'purpose')), isResearch) },
    ],
  },
};

/** The same, translated; their ids are the kinds. */
export const MARK_POLICIES: readonly Policy[] = MARK_KINDS.map((kind) =>
  translatedPolicy(kind, MARK_POLICY_JSON[kind]),
);
