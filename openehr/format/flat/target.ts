import type { JsonObject, JsonValue } from '../../base/json.js';
import type { CompiledTemplate } from '../../template/opt/compile.js';
import type { FlatScope } from './keys/keys.js';
import type { PlanNode } from './plan.js';

/** What the `ctx/` keys set where the body itself says nothing (docs/spec/formats.md#ctx-keys). Null = not given. */
export interface FlatContext {
  readonly language: string | null;
  readonly territory: string | null;
  readonly composer: JsonObject | null;
  readonly composerIsSelf: boolean;
  readonly idScheme: string | null;
  readonly idNamespace: string | null;
  readonly time: string | null;
  readonly endTime: string | null;
  readonly historyOrigin: string | null;
  readonly actionTime: string | null;
  readonly currentState: JsonObject | null;
  readonly activityTiming: string | null;
  readonly narrative: string | null;
  readonly provider: JsonObject | null;
  readonly healthCareFacility: JsonObject | null;
  readonly location: string | null;
  readonly setting: JsonObject | null;
  readonly participations: readonly JsonObject[];
  readonly workFlowId: JsonObject | null;
  readonly links: readonly JsonObject[];
}

/** The key that an object was read from, without suffix, and its node. */
export interface FlatPlace {
  readonly path: string;
  readonly plan: PlanNode;
}

/** What all readers of one FLAT body share. */
export interface ReadEnvironment {
  readonly template: CompiledTemplate;
  readonly context: FlatContext;
  /** ISO 8601 date and time that `now` and missing times become. */
  readonly now: string;
  /** Language of the COMPOSITION: that of texts which are filled in. */
  readonly language: string;
  /** Filled with what was ignored or replaced: one sentence each. */
  readonly warnings: string[];
  /** Filled with where each object came from; null: nobody asks. */
  readonly places: Map<JsonObject, FlatPlace> | null;
  /** Reads an object of a data type, a party or one of their parts; null when no key says anything about it. */
  readonly readValue: (type: string, scope: FlatScope, target: ReadTarget) => JsonValue | null;
}

/** Where a value that is being read belongs. */
export interface ReadTarget {
  readonly environment: ReadEnvironment;
  /** Null where the template says nothing about it. */
  readonly plan: PlanNode | null;
  /** RM attribute that holds it: decides openEHR groups and code sets. */
  readonly attribute: string;
  /** Data type of the bounds of an interval. */
  readonly parameter: string | null;
}

/** What all writers of one FLAT body share. */
export interface WriteEnvironment {
  readonly template: CompiledTemplate;
  readonly out: JsonObject;
  /** Writes an object of a data type, a party or one of their parts below `key`. */
  readonly writeValue: (value: JsonValue, key: string, target: WriteTarget) => void;
}

/** Where a value that is being written belongs. */
export interface WriteTarget {
  readonly environment: WriteEnvironment;
  readonly plan: PlanNode | null;
}

/** Both directions of one RM class. */
export interface Codec {
  readonly read: (scope: FlatScope, target: ReadTarget, type: string) => JsonValue | null;
  readonly write: (value: JsonObject, key: string, target: WriteTarget) => void;
}
