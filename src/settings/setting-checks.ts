import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Joi from 'joi';
import { readCandidatePaths } from '../../merge/candidates/paths.js';
import { HOST_NAME } from '../middleware/origin.js';
import { malformedProxies } from '../admission/client-address.js';

/** Any text; `value`: without one, where there is one. An empty variable is not set: no check sees it. */
export const text = (value?: string): Joi.StringSchema => {
  const schema = Joi.string().allow('');
  return value === undefined ? schema : schema.default(value);
};
/** `true` or `false`. */
export const flag = (value: boolean): Joi.BooleanSchema =>
  Joi.boolean()
    .truthy('true')
    .falsy('false')
    .default(value)
    .messages({ 'boolean.base': '{#label} must be true or false, found {#value}' });
/** A whole number from `least` to `most`. */
export const count = (least: number, most?: number): Joi.NumberSchema => {
  const schema = Joi.number().integer().min(least);
  return most === undefined ? schema : schema.max(most);
};
/** The address of a server; https, or http. */
export const webAddress = (): Joi.StringSchema => Joi.string().uri({ scheme: ['http', 'https'] });
/** One of these words. */
export const choice = <const V extends string>(values: readonly V[], value: V): Joi.AnySchema<V> =>
  Joi.string<V>()
    .valid(...values)
    .default(value);

/** What may be left out: it is null then. */
export function orNull<V>(schema: Joi.AnySchema<V>): Joi.AnySchema<V | null> {
  return (schema as Joi.AnySchema<V | null>).default(null);
}

/** The words of a comma list that passes a check; `without`: those that it has when it is not set. */
export function words(
  without: readonly string[] = [],
  check: Joi.CustomValidator<string> = (value) => value,
): Joi.AnySchema<readonly string[]> {
  const schema = text().custom(check).custom(commaList) as unknown as Joi.AnySchema<readonly string[]>;
  return schema.default(without);
}

/** Check of a comma list of these words. */
export function wordsAmong(allowed: readonly string[]): Joi.CustomValidator<string> {
  return (value, helpers) => {
    const unknown = commaList(value).filter((word) => !allowed.includes(word));
    return unknown.length === 0
      ? value
      : helpers.message({ custom: '{#label} has unknown words: {#words}' }, { words: unknown.join(', ') });
  };
}

/** An address or a path without the slashes at its end, but for one that is all of it. */
export function withoutLastSlashes(value: string): string {
  return value.replace(/(?<!\/)\/+$/, '');
}

/** Check of a zone: `UTC`, an offset or an IANA name. */
export function timezone(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (value === 'UTC' || /^[+-](0\d|1[0-4]):[0-5]\d$/.test(value)) return value;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value;
  } catch {
    return helpers.message({
      custom: '{#label} must be UTC, ±hh:mm or an IANA name such as Europe/Berlin',
    });
  }
}

/** Paths that may be shown of a patient: each is looked for whenever a page of him is opened. */
const MAX_BANNER_PATHS = 6;
const BANNER_PATH =
  /^openEHR-EHR-[A-Z_]+\.[\w-]+\.v\d[\w.-]*(?:\/[a-z_]+(?:\[(?:at|id)[\d.]+\])?)*\/[a-z_]+\[(?:at|id)[\d.]+\]$/;

/** Check of a comma list of paths to ELEMENTs. */
export function bannerPaths(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const paths = commaList(value);
  const wrong = paths.find((path) => !BANNER_PATH.test(path));
  if (wrong !== undefined)
    return helpers.message({
      custom: `{#label}: ${wrong} is no path to an ELEMENT, such as openEHR-EHR-CLUSTER.person.v1/items[at0001]`,
    });
  if (paths.length <= MAX_BANNER_PATHS) return value;
  return helpers.message({ custom: `{#label}: ${paths.length} paths are more than ${MAX_BANNER_PATHS}` });
}

/** Check of a public key, given as PEM text or by the path of its file; gives the PEM text. */
export function pemText(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  let pem = value;
  try {
    if (!value.includes('-----BEGIN')) pem = readFileSync(value, 'utf8');
  } catch {
    return helpers.message({ custom: '{#label} is neither PEM text nor a readable file' });
  }
  try {
    createPublicKey(pem);
    return pem;
  } catch {
    return helpers.message({ custom: '{#label} holds no public key in PEM form' });
  }
}

/** Check of a comma list of addresses and CIDR blocks. */
export function proxies(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const wrong = malformedProxies(commaList(value)).join(', ');
  if (wrong === '') return value;
  return helpers.message({ custom: '{#label}: {#wrong} is neither an address nor a CIDR block' }, { wrong });
}

/** Check of a comma list of hosts, with or without port; gives them in lower case. */
export function hosts(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const wrong = commaList(value)
    .filter((word) => !HOST_NAME.test(word))
    .join(', ');
  if (wrong === '') return value.toLowerCase();
  return helpers.message({ custom: '{#label}: {#wrong} is no host, with or without port' }, { wrong });
}

/** Check of the paths in which EHRs of one person agree. */
export function candidatePaths(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const problems = readCandidatePaths(commaList(value)).problems.join('; ');
  return problems === '' ? value : helpers.message({ custom: '{#label}: {#problems}' }, { problems });
}

/** The words of a comma list, blanks and empty words left out. */
export function commaList(value: string): string[] {
  return value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
