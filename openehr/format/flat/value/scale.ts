import type { JsonObject } from '../../../base/json.js';
import { objectAt } from '../../../rm/access.js';
import { take } from '../keys/keys.js';
import { childPlan } from '../plan.js';
import { readTable, writeTable } from './fields.js';
import type { Codec } from '../target.js';
import { DV_CODED_TEXT } from './texts.js';
import { numberOf } from './values.js';

/** DV_SCALE: `|code`, `|value` and `|terminology` of its symbol, `|ordinal` for its value. */
export const DV_SCALE: Codec = {
  read(scope, target) {
    const object: JsonObject = { _type: 'DV_SCALE' };
    const value = take(scope, 'ordinal');
    const isOrdered = readTable('DV_SCALE', object, scope, target);
    const plan = childPlan(target.plan, 'symbol');
    const symbol = DV_CODED_TEXT.read(scope, { ...target, plan, attribute: 'symbol' }, 'DV_CODED_TEXT');
    if (value !== undefined) object.value = numberOf(value);
    if (symbol !== null) object.symbol = symbol;
    return isOrdered || value !== undefined || symbol !== null ? object : null;
  },
  write(value, key, target) {
    const symbol = objectAt(value, 'symbol');
    if (symbol !== undefined) DV_CODED_TEXT.write(symbol, key, target);
    if (value.value !== undefined) target.environment.out[`${key}|ordinal`] = value.value;
    writeTable('DV_SCALE', value, key, target);
  },
};
