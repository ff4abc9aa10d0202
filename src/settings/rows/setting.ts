import type Joi from 'joi';
import type { Settings } from '../../../config/settings.js';

type Group = 'database' | 'jwt' | 'bodyBytes' | 'work' | 'aql' | 'terminology';

/** Where a value stands in `Settings`: a field, or one of a group. */
export type Place =
  Exclude<keyof Settings, Group> | { [G in Group]: `${G}.${keyof Settings[G] & string}` }[Group];

type ValueAt<P extends Place> = P extends `${infer G extends Group}.${infer F}`
  ? F extends keyof Settings[G]
    ? Settings[G][F]
    : never
  : P extends keyof Settings
    ? Settings[P]
    : never;

/** One setting of the environment: its name, how it is checked, what it means. */
export interface SettingDescription<P extends Place = Place> {
  readonly name: string;
  /** null: what it comes to depends on others. */
  readonly place: P | null;
  readonly schema: Joi.AnySchema;
  /** As shown in `.env.example` and the documentation; empty: none. */
  readonly defaultText: string;
  readonly meaning: string;
}

/** A row of the list of settings: what the schema gives stands in `Settings` at this place. */
export function setting<P extends Place>(
  name: string,
  place: P,
  schema: Joi.AnySchema<ValueAt<P>>,
  meaning: string,
): SettingDescription<P> {
  return { name, place, schema, defaultText: defaultText(schema), meaning };
}

/** A row of which `config.ts` makes something together with others. */
export function part(name: string, schema: Joi.AnySchema, meaning: string): SettingDescription<never> {
  return { name, place: null, schema, defaultText: defaultText(schema), meaning };
}

type Default = string | number | boolean;

function defaultText(schema: Joi.AnySchema): string {
  const { flags } = schema.describe() as { readonly flags?: { readonly default?: Default | Default[] } };
  return String(flags?.default ?? '');
}
