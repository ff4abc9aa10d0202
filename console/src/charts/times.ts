/** Each mark says its year: a record of long ago is not read as one of now. */
export const TIMES = {
  year: '{yyyy}',
  month: '{yyyy}-{MM}',
  day: '{yyyy}-{MM}-{dd}',
  hour: '{yyyy}-{MM}-{dd} {HH}:{mm}',
  minute: '{yyyy}-{MM}-{dd} {HH}:{mm}',
  second: '{yyyy}-{MM}-{dd} {HH}:{mm}:{ss}',
};
