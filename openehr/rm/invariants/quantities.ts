import { firstPossibleValue, lastPossibleValue, valuesCompare } from '../ordered-value.js';
import { isAbsent } from '../access.js';
import type { PartialRm } from '../model/rm.js';
import { codedBy, invariant, oneOf, type Invariant } from './invariant.js';

const RATIO = 0;
const UNITARY = 1;
const PERCENT = 2;
const FRACTION = 3;
const INTEGER_FRACTION = 4;

/** Rules of ordered types and their intervals (docs/spec/formats.md#rm-rules). */
export const QUANTITY_INVARIANTS: readonly Invariant[] = [
  codedBy('DV_ORDERED', 'Normal_status_validity', 'normal_status'),
  invariant('DV_ORDERED', {
    name: 'Normal_range_and_status_consistency',
    expected: 'normal_status N exactly when the value is in normal_range',
    holds: isNormalStatusConsistent,
  }),
  invariant('REFERENCE_RANGE', {
    name: 'Range_is_simple',
    expected: 'bounds without reference ranges of their own',
    holds: ({ range }) => isSimple(range?.lower) && isSimple(range?.upper),
  }),
  oneOf('DV_QUANTIFIED', 'Magnitude_status_valid', 'magnitude_status', '=', '<', '>', '<=', '>=', '~'),
  invariant('DV_AMOUNT', {
    name: 'Accuracy_valid',
    attribute: 'accuracy',
    expected: 'a percentage within 0 to 100',
    holds: ({ accuracy, accuracy_is_percent: isPercent }) =>
      isPercent !== true || typeof accuracy !== 'number' || (accuracy >= 0 && accuracy <= 100),
  }),
  invariant('DV_AMOUNT', {
    name: 'Accuracy_is_percent_validity',
    expected: 'an accuracy of 0 that is not percent',
    holds: ({ accuracy, accuracy_is_percent: isPercent }) => accuracy !== 0 || isPercent !== true,
  }),

  invariant('DV_PROPORTION', {
    name: 'Type_validity',
    attribute: 'type',
    expected: `type ${RATIO} to ${INTEGER_FRACTION}`,
    holds: ({ type }) => isAbsent(type) || (type >= RATIO && type <= INTEGER_FRACTION),
  }),
  invariant('DV_PROPORTION', {
    name: 'Precision_validity',
    attribute: 'precision',
    expected: 'whole numbers with precision 0',
    holds: (proportion) => proportion.precision !== 0 || isWhole(proportion),
  }),
  invariant('DV_PROPORTION', {
    name: 'Fraction_validity',
    attribute: 'type',
    expected: 'whole numbers in a fraction',
    holds: (proportion) => {
      const isFraction = proportion.type === FRACTION || proportion.type === INTEGER_FRACTION;
      return !isFraction || isWhole(proportion);
    },
  }),
  invariant('DV_PROPORTION', {
    name: 'Fraction_validity',
    attribute: 'precision',
    expected: 'precision 0 in a fraction',
    // -1 is what writers say that have no precision.
    holds: ({ type, precision }) =>
      (type !== FRACTION && type !== INTEGER_FRACTION) || isAbsent(precision) || precision <= 0,
  }),
  denominatorOf('Unitary_validity', UNITARY, 1),
  denominatorOf('Percent_validity', PERCENT, 100),
  invariant('DV_PROPORTION', {
    name: 'Valid_denominator',
    attribute: 'denominator',
    expected: 'a denominator other than 0',
    holds: ({ denominator }) => denominator !== 0,
  }),

  invariant('DV_INTERVAL', {
    name: 'Limits_consistent',
    expected: 'lower not above upper',
    holds: ({ lower, upper }) => lower === undefined || upper === undefined || isOrdered(lower, upper),
  }),
  invariant('DV_INTERVAL', {
    name: 'Lower_included_valid',
    expected: 'an unbounded lower limit that is not included',
    holds: (interval) => interval.lower_unbounded !== true || interval.lower_included !== true,
  }),
  invariant('DV_INTERVAL', {
    name: 'Upper_included_valid',
    expected: 'an unbounded upper limit that is not included',
    holds: (interval) => interval.upper_unbounded !== true || interval.upper_included !== true,
  }),
];

function denominatorOf(name: string, type: number, denominator: number): Invariant {
  return invariant('DV_PROPORTION', {
    name,
    attribute: 'denominator',
    expected: `denominator ${denominator}`,
    holds: (proportion) =>
      proportion.type !== type || isAbsent(proportion.denominator) || proportion.denominator === denominator,
  });
}

function isWhole({ numerator = 0, denominator = 0 }: PartialRm<'DV_PROPORTION'>): boolean {
  return Number.isInteger(numerator) && Number.isInteger(denominator);
}

type Ordered = PartialRm<'DV_ORDERED'>;

function isSimple(bound: Ordered | undefined): boolean {
  return bound === undefined || (isAbsent(bound.normal_range) && isAbsent(bound.other_reference_ranges));
}

/** False when the first is above the second in every reading of partial values, or cannot be compared at all. */
function isOrdered(lower: Ordered, upper: Ordered): boolean {
  if (!valuesCompare(lower, upper)) return lower._type === upper._type;
  const least = firstPossibleValue(lower);
  const most = lastPossibleValue(upper);
  return least === null || most === null || least <= most;
}

function isNormalStatusConsistent(value: Ordered): boolean {
  const { normal_range: range, normal_status: code } = value;
  const status = code?.code_string;
  if (range === undefined || status === undefined || status === '') return true;
  const isNormal = isWithinRange(value, range);
  return isNormal === null || isNormal === (status === 'N');
}

/** Null when it cannot be decided: other units, partial values, missing parts. */
function isWithinRange(value: Ordered, range: PartialRm<'DV_INTERVAL'>): boolean | null {
  const isAboveLower = isBeyond(range, 'lower', value);
  const isBelowUpper = isBeyond(range, 'upper', value);
  if (isAboveLower === null || isBelowUpper === null) return null;
  return isAboveLower && isBelowUpper;
}

/** Whether the value is on the inner side of that bound. */
function isBeyond(range: PartialRm<'DV_INTERVAL'>, side: 'lower' | 'upper', value: Ordered): boolean | null {
  const bound = range[side];
  if (bound === undefined) return true;
  if (!valuesCompare(bound, value)) return null;
  const [first, last] = [firstPossibleValue(value), lastPossibleValue(value)];
  const [boundFirst, boundLast] = [firstPossibleValue(bound), lastPossibleValue(bound)];
  if (first === null || boundFirst === null || first !== last || boundFirst !== boundLast) return null;
  if (first === boundFirst) return range[`${side}_included`] !== false;
  return side === 'lower' ? first > boundFirst : first < boundFirst;
}
