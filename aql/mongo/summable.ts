/** Types whose values SUM and AVG add up (AQL page 2.8). */
export const SUMMABLE_CLASSES: readonly string[] = [
  'Integer',
  'Integer64',
  'Real',
  'DV_QUANTITY',
  'DV_COUNT',
];
