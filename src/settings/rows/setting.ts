import type Joi from 'joi';

/** One setting of the environment: its name, how it is checked, what it means. */
export interface SettingDescription {
  readonly name: string;
  readonly schema: Joi.Schema;
  /** As shown in `.env.example` and the documentation; empty: none. */
  readonly defaultText: string;
  readonly meaning: string;
}

/** A row of the list of settings. */
export function setting(
  name: string,
  schema: Joi.Schema,
  defaultText: string,
  meaning: string,
): SettingDescription {
  return { name, schema, defaultText, meaning };
}
