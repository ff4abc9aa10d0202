import type { JsonObject, JsonValue } from '../../base/json.js';
import { OPENEHR } from '../../rm/terminology/openehr.js';
import { unitFits, usualUnit } from '../../rm/terminology/property-units.js';
import type { Interval, UnitConstraint } from '../opt/constraint.js';
import { intervalValue, isWithin } from '../opt/constraint-text.js';
import type { ObjectMatcher } from '../validate/matcher.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import type { Aspect } from './aspect.js';
import { isRangeWithin, rangeSamples, UNBOUNDED, wholeRange } from './range.js';

/** What a C_DV_QUANTITY says that is validated. */
interface QuantityRule {
  /** Empty: any unit, as far as the property lets it. */
  readonly units: readonly UnitConstraint[];
  /** Code of the openEHR terminology. */
  readonly property: string | null;
}

const ANYTHING: QuantityRule = { units: [], property: null };

/** Units of a DV_QUANTITY, and what each asks for. */
export function quantityAspects({ node: before }: ObjectMatcher, { node: after }: ObjectMatcher): Aspect[] {
  const [from, to] = [ruleOf(before), ruleOf(after)];
  const known = new Set(from.units.map(({ units }) => units));
  const shared = [...known].filter((unit) => to.units.some(({ units }) => units === unit));
  return [unitAspect(from, to), ...shared.flatMap((unit) => numberAspects(of(unit, from), of(unit, to)))];
}

function ruleOf({ constraint }: WebTemplateNode): QuantityRule {
  if (constraint?.kind !== 'quantity') return ANYTHING;
  const { units, property } = constraint;
  return { units, property: property?.terminologyId === OPENEHR ? property.code : null };
}

function of(unit: string, { units }: QuantityRule): readonly UnitConstraint[] {
  return units.filter((candidate) => candidate.units === unit);
}

function unitAspect(from: QuantityRule, to: QuantityRule): Aspect {
  const usual = from.property === null ? null : usualUnit(from.property);
  return {
    what: 'units',
    from: shownUnits(from),
    to: shownUnits(to),
    isWithin: areUnitsWithin(from, to),
    isNotMore: areUnitsWithin(to, from),
    samples: [
      ...from.units.map((unit) => sampleQuantity(unit)),
      ...(usual === null ? [] : [{ units: usual }]),
      { units: 'x1' },
      ...(to.property === null ? [] : [{ units: to.property === MASS ? 'm' : 'kg' }]),
    ],
  };
}

/** openEHR code of the property mass. */
const MASS = '124';

function takesUnit({ units, property }: QuantityRule, unit: string): boolean {
  if (units.length > 0) return units.some((candidate) => candidate.units === unit);
  return property === null || unitFits(property, unit);
}

function areUnitsWithin(inner: QuantityRule, outer: QuantityRule): boolean {
  if (inner.units.length > 0) return inner.units.every(({ units }) => takesUnit(outer, units));
  if (outer.units.length > 0) return false;
  return outer.property === null || outer.property === inner.property;
}

function shownUnits({ units, property }: QuantityRule): JsonValue {
  if (units.length > 0) return [...new Set(units.map((unit) => unit.units))];
  return property === null ? null : { property };
}

/** Magnitude and precision of one unit; a unit that is listed several times takes what any of the entries takes. */
function numberAspects(before: readonly UnitConstraint[], after: readonly UnitConstraint[]): Aspect[] {
  const [from, ...alsoFrom] = before;
  const [to, ...alsoTo] = after;
  if (from === undefined || to === undefined) return [];
  if (alsoFrom.length === 0 && alsoTo.length === 0)
    return [numberAspect('magnitude', from, to), numberAspect('precision', from, to)];
  return [
    {
      what: 'magnitude',
      from: before.map(shownUnit),
      to: after.map(shownUnit),
      isWithin: before.every((unit) => after.some((other) => isUnitWithin(unit, other))),
      isNotMore: after.every((unit) => before.some((other) => isUnitWithin(unit, other))),
      samples: before.flatMap((unit) => after.flatMap((other) => numberSamples('magnitude', unit, other))),
    },
  ];
}

type NumberOf = 'magnitude' | 'precision';

function rangeOf(unit: UnitConstraint, what: NumberOf): Interval<number> {
  const range = unit[what] ?? UNBOUNDED;
  return what === 'precision' ? wholeRange(range) : range;
}

function isUnitWithin(inner: UnitConstraint, outer: UnitConstraint): boolean {
  return (['magnitude', 'precision'] as const).every((what) =>
    isRangeWithin(rangeOf(inner, what), rangeOf(outer, what)),
  );
}

function numberAspect(what: NumberOf, from: UnitConstraint, to: UnitConstraint): Aspect {
  return {
    what,
    from: shownNumber(from, what),
    to: shownNumber(to, what),
    isWithin: isRangeWithin(rangeOf(from, what), rangeOf(to, what)),
    isNotMore: isRangeWithin(rangeOf(to, what), rangeOf(from, what)),
    samples: numberSamples(what, from, to),
  };
}

function numberSamples(what: NumberOf, from: UnitConstraint, to: UnitConstraint): JsonObject[] {
  const numbers = rangeSamples(rangeOf(from, what), rangeOf(to, what));
  const possible = what === 'precision' ? numbers.filter((number) => number >= 0) : numbers;
  return possible.map((number) => ({ ...sampleQuantity(from), [what]: number }));
}

/** A quantity of a unit, as it may be. */
function sampleQuantity(unit: UnitConstraint): JsonObject {
  const within = (what: NumberOf): number | undefined => {
    const range = rangeOf(unit, what);
    return rangeSamples(range, UNBOUNDED).find(
      (number) => isWithin(number, range) && (what === 'magnitude' || number >= 0),
    );
  };
  const precision = unit.precision === null ? undefined : within('precision');
  return {
    magnitude: within('magnitude') ?? 1,
    units: unit.units,
    ...(precision === undefined ? {} : { precision }),
  };
}

function shownUnit(unit: UnitConstraint): JsonObject {
  return { units: unit.units, magnitude: intervalValue(unit.magnitude ?? UNBOUNDED) };
}

function shownNumber(unit: UnitConstraint, what: NumberOf): JsonValue {
  return { units: unit.units, ...intervalValue(unit[what] ?? UNBOUNDED) };
}
