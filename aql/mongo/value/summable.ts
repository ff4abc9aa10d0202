/** Types whose values SUM and AVG add up (docs/spec/aql.md#aggregates). */
export const SUMMABLE_CLASSES: readonly string[] = [
  'Integer',
  'Integer64',
  'Real',
  'DV_QUANTITY',
  'DV_COUNT',
];
