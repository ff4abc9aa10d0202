import type { JsonObject, JsonValue } from '../../base/json.js';
import type { ChangedPart } from './change.js';

/** One rule for a value, as both templates have it. */
export interface Aspect {
  readonly what: ChangedPart;
  readonly from: JsonValue;
  readonly to: JsonValue;
  /** It is proven that every value that the earlier rule accepts is accepted by the later one. */
  readonly isWithin: boolean;
  /** The same the other way round. */
  readonly isNotMore: boolean;
  /** Attributes of objects, of which one is accepted by the earlier rule alone where such a one is easily found. */
  readonly samples: readonly JsonObject[];
}
