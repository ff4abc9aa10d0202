import type { ValueReader } from '../../record/values/value-reader.js';
import { valueText } from '../../record/values/value-text.js';
import type { Point } from './patient-data.js';

/** What a point says, as its document says it, without its unit: `≥178.10 HH`; of a scale what its number means. */
export function pointText({ dv, symbol }: Pick<Point, 'dv' | 'symbol'>, reader: ValueReader): string {
  const { text, flag } = valueText(dv, reader);
  const said = symbol ?? text;
  return flag === undefined || flag.isNormal ? said : `${said} ${flag.code}`;
}
