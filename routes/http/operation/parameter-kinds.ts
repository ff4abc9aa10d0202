import { CdrError } from '../../../openehr/base/errors.js';
import { parseVersionAtTime } from '../../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';

/** What a parser knows beside the text. */
export interface ParameterContext {
  /** Name as it was sent, for messages. */
  readonly name: string;
  /** Zone of times given without one (`DEFAULT_TIMEZONE`). */
  readonly defaultTimezone: string;
  /** Of this server: in version uids its case makes no difference. */
  readonly systemId: string;
}

/** What a text may be: as the OpenAPI document says it, and how it becomes a value. */
export interface Kind<T> {
  /** Absent: a text. */
  readonly schema?: JsonObject;
  /** Value of a text that is not empty. Headers are read by the modules that know their grammar. @throws invalid */
  readonly parse: (text: string, context: ParameterContext) => T;
  /** Value of a query parameter that is not given; absent: null. */
  readonly usual?: T;
}

/** Schema of any text. */
export const TEXT: JsonObject = { type: 'string' };

/** The text as it is. */
export const asText = (text: string): string => text;
/** Any text. */
export const text = { parse: asText } satisfies Kind<string>;
/** Texts of a parameter that may be given several times, each of a kind. */
export const severalOf = <T>({ parse }: Kind<T>) =>
  ({ schema: { type: 'array', items: { type: 'string' } }, isList: true, parse }) as const;
/** A time, extended ISO 8601. */
export const time = {
  schema: { type: 'string', format: 'date-time' },
  parse: (given: string, { name, defaultTimezone }: ParameterContext): Date =>
    parseVersionAtTime(given, defaultTimezone, name),
} satisfies Kind<Date>;

/** A kind with the value of a parameter that is not given. */
export const otherwise = <T extends JsonValue>(usual: NoInfer<T>, kind: Kind<T>) => ({
  ...kind,
  schema: { ...kind.schema, default: usual },
  usual,
});

/** One of the words, any letter case. */
export function oneOf<T extends string>(...words: readonly T[]): Kind<T> {
  return {
    schema: { type: 'string', enum: [...words] },
    parse: (given, { name }) => {
      const known = words.find((candidate) => candidate.toLowerCase() === given.toLowerCase());
      if (known === undefined) throw new CdrError('invalid', `${name} must be one of ${words.join(', ')}`);
      return known;
    },
  };
}

/** A comma list of these words. */
export function wordsOf(...allowed: readonly string[]): Kind<string[]> {
  return {
    parse: (given, { name }) => {
      const words = given
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      if (!words.every((part) => allowed.includes(part)))
        throw new CdrError('invalid', `${name} may name ${allowed.join(', ')}`);
      return words;
    },
  };
}

/** Yes or no; no where it is not given. */
export const flag = otherwise(false, {
  schema: { type: 'boolean' },
  parse: (given, { name }) => {
    if (given === 'true') return true;
    if (given === 'false') return false;
    throw new CdrError('invalid', `${name} must be true or false`);
  },
});

/** A whole number within limits. */
export function wholeNumber(least: number, most?: number): Kind<number> {
  const maximum = most ?? Number.MAX_SAFE_INTEGER;
  return {
    schema: { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) },
    parse: (given, { name }) => {
      const value = Number(given);
      if (!/^\d{1,15}$/.test(given) || value < least || value > maximum)
        throw new CdrError('invalid', `${name} must be a whole number from ${least} to ${maximum}`);
      return value;
    },
  };
}

/** A line that a person wrote, of so many characters at most. */
export const line = (most: number): Kind<string> => ({
  schema: { type: 'string', maxLength: most },
  parse: (given, { name }) => {
    const value = given.trim();
    if (value.length > most) throw new CdrError('invalid', `${name} must have at most ${most} characters`);
    return value;
  },
});

/** A number of a page, whose range is validated where the limits are known. */
export const pageNumber = (minimum: number): Kind<number> => ({
  schema: { type: 'integer', minimum },
  parse: (given, { name }) => {
    if (!/^-?\d{1,15}$/.test(given)) throw new CdrError('invalid', `${name} must be a whole number`);
    return Number(given);
  },
});
