import type { JsonObject } from '../../openehr/base/json.js';

/** One measured value of a metric. */
interface MetricMeasurement {
  readonly statistic: string;
  readonly value: number;
}

/** A metric as the management API shows it. */
export interface MetricView {
  readonly name: string;
  readonly description: string;
  readonly baseUnit: string | null;
  readonly measurements: readonly MetricMeasurement[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

/** What the management routes need of the process they run in; made in `src/`. */
export interface ManagementSource {
  /** Whether this process serves requests: the database answers and its indexes are built. */
  ready(): Promise<boolean>;
  databaseUp(): Promise<boolean>;
  info(): JsonObject;
  /** Runtime facts and configuration, secrets already masked. */
  environment(): JsonObject;
  metricNames(): readonly string[];
  /** null: no such metric. `tags`: `key:value` filters. */
  metric(name: string, tags: readonly string[]): Promise<MetricView | null>;
  prometheus(): Promise<string>;
  /** Name and level of each logger, upper case. */
  loggers(): Readonly<Record<string, string>>;
  /** false: no such logger. */
  setLevel(logger: string, level: string): boolean;
}
