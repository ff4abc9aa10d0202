import Joi from 'joi';
import type { Logger } from 'pino';
import {
  FOUR_EYES_KINDS,
  type JwtSettings,
  type OidcSettings,
  type Settings,
} from '../../config/settings.js';
import { DIALECTS, type ItsRest } from '../../openehr/base/dialect.js';
import { identityConflicts } from '../identity/identity-settings.js';
import { defaultRolePermissions, readRolePermissions } from '../identity/identifier.js';
import { isLoopback } from '../admission/client-address.js';
import { fileOfVariable } from './env-file.js';
import { isMadeByKubernetes, logMisspeltSettings, misspeltSettings } from './misspelt-settings.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from './rows/operation-settings.js';
import type { Place } from './rows/setting.js';
import { SETTINGS } from './setting-list.js';
import { areTracesSent, traceConflicts } from './trace-settings.js';

/** The environment as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Values after joi, by setting name; absent = empty without default. */
type Values = Readonly<Record<string, unknown>>;

/** The configuration of this process. @throws Error as `loadConfig`. */
export function configFromEnvironment(overrides: Environment = {}): Settings {
  return loadConfig({ ...process.env, ...overrides });
}

/**
 * The value of one setting of this process, its default included, whatever the others say: for commands that use no other.
 * @throws Error when it is malformed or no setting has this name
 */
export function textSetting(name: string): string {
  const row = SETTINGS.find((entry) => entry.name === name);
  if (row === undefined) throw new Error(`there is no setting ${name}`);
  const result: Joi.ValidationResult<string> = row.schema.validate(givenValue(process.env, name));
  if (result.error !== undefined) throw configError([`${name}: ${result.error.message}`]);
  return result.value;
}

/** One line at level warn for each variable of this process that is probably a misspelt setting. */
export function warnOfMisspeltSettings(log: Logger): void {
  logMisspeltSettings(log, process.env);
}

/**
 * Reads and checks the whole configuration once; an empty variable counts as unset.
 * @throws Error naming every problem at once, one line each.
 */
export function loadConfig(env: Environment): Settings {
  const schema = Joi.object(Object.fromEntries(SETTINGS.map((entry) => [entry.name, entry.schema])));
  const known = Object.fromEntries(SETTINGS.map(({ name }) => [name, givenValue(env, name)]));
  const { error } = schema.validate(known, { abortEarly: false, convert: true });
  const details = error?.details ?? [];
  const malformed = new Set(details.map(({ path }) => String(path[0])));
  // What the well-formed settings say together is validated all the same, so that one start reports everything.
  const rest = Object.fromEntries(Object.entries(known).filter(([name]) => !malformed.has(name)));
  const tracesSent = areTracesSent(env);
  const fromEnvironment = { tracesSent, accessModeStated: givenValue(env, 'ACCESS_MODE') !== undefined };
  const settings = {
    ...toSettings(schema.validate(rest, { convert: true }).value as Values),
    ...fromEnvironment,
  };
  const conflicts = [...conflictsOf(settings, env), ...traceConflicts(env)].filter(
    (text) => !namesOneOf(text, malformed),
  );
  const problems = [...details.map(({ message }) => message.replaceAll('"', '')), ...conflicts];
  if (problems.length > 0) throw configError([...problems.map(withOrigin), ...misspelt(env)]);
  return Object.freeze(settings);
}

/** A problem with the file that its settings came from, where they came from one. */
function withOrigin(problem: string): string {
  const files = (problem.match(SETTING_NAME) ?? []).flatMap((name) => fileOfVariable(name) ?? []);
  return files.length === 0 ? problem : `${problem} (from ${[...new Set(files)].join(', ')})`;
}

/** What may be the reason of a problem: a setting that was meant and has another name. */
function misspelt(env: Environment): string[] {
  return misspeltSettings(env).map(({ name, nearest }) =>
    withOrigin(`there is no setting ${name}; did you mean ${nearest}?`),
  );
}

const SETTING_NAME = /[A-Z][A-Z0-9_]+/g;

function givenValue(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' || isMadeByKubernetes(name, value) ? undefined : value;
}

/** A conflict with a setting that is malformed itself says nothing new. */
function namesOneOf(text: string, names: ReadonlySet<string>): boolean {
  return (text.match(SETTING_NAME) ?? []).some((word) => names.has(word));
}

/** What is asked of the environment itself. */
type FromEnvironment = 'tracesSent' | 'accessModeStated';
/** What `composed` makes of several settings. */
type Composed = keyof ReturnType<typeof composed>;
type Placed = NonNullable<(typeof SETTINGS)[number]['place']>;
/** Places that no row and no composition fills; the compiler refuses `toSettings` while there is one. */
type Unplaced = Exclude<
  Place,
  Placed | Composed | FromEnvironment | 'jwt.types' | 'jwt.algorithms' | 'aql.maxPerUser'
>;
type PlacedSettings = [Unplaced] extends [never]
  ? Omit<Settings, Composed | FromEnvironment>
  : { missing: Unplaced };

function toSettings(values: Values): Omit<Settings, FromEnvironment> {
  const settings: PlacedSettings = placedSettings(values);
  const { jwt, aql, host } = settings;
  return {
    ...settings,
    ...composed(values, host, jwt),
    jwt: {
      ...jwt,
      types: settingWords(values, 'JWT_TYP').map((word) => word.toLowerCase()),
      algorithms: algorithmsOf(values, jwt.secret),
    },
    aql: {
      ...aql,
      maxPerUser: numberOrNull(values, 'AQL_MAX_PER_USER') ?? Math.max(1, aql.maxConcurrent - 1),
    },
  };
}

/** Every value that has a place, at its place. */
function placedSettings(values: Values): PlacedSettings {
  const settings: Record<string, unknown> = {};
  for (const { name, place } of SETTINGS) {
    if (place === null) continue;
    const value = values[name];
    if (value === undefined) throw new TypeError(`setting ${name} has no default`);
    const [field, inside] = place.split('.');
    if (field === undefined) continue;
    if (inside === undefined) settings[field] = value;
    else settings[field] = { ...(settings[field] as object | undefined), [inside]: value };
  }
  return settings as unknown as PlacedSettings;
}

/** What several settings come to together. */
function composed(values: Values, host: string, { roleUser, roleAdmin }: Settings['jwt']) {
  const auth = settingText(values, 'AUTH') ?? (isLoopback(host) ? 'none' : 'jwt');
  const roles = settingText(values, 'ROLE_PERMISSIONS') ?? defaultRolePermissions(roleUser, roleAdmin);
  return {
    auth: (auth === 'basic,jwt' ? 'jwt,basic' : auth) as Settings['auth'],
    oidc: oidcSettings(values),
    introspection: introspectionSettings(values),
    rolePermissions: readRolePermissions(roles).roles,
    ...rateLimitSettings(values),
    preferMinimalUpdateStatus: minimalUpdateStatusOf(values),
    commitGroups: numberOrNull(values, 'COMMIT_GROUPS') ?? (values.MONGODB_URI === '' ? 1 : 4),
    fourEyes: fourEyesOf(values),
  };
}

function minimalUpdateStatusOf(values: Values): Settings['preferMinimalUpdateStatus'] {
  const given = numberOrNull(values, 'PREFER_MINIMAL_UPDATE_STATUS') as 200 | 204 | null;
  return given ?? DIALECTS[values.ITS_REST as ItsRest].minimalUpdateStatus;
}

/** `MERGE_NEEDS_APPROVAL` is the older name of the one word `merge`. */
function fourEyesOf(values: Values): Settings['fourEyes'] {
  const named = settingWords(values, 'FOUR_EYES');
  return FOUR_EYES_KINDS.filter(
    (kind) => named.includes(kind) || (kind === 'merge' && values.MERGE_NEEDS_APPROVAL === true),
  );
}

/** On the machine itself only a limit that was set counts: a demonstration or an import is no attack. */
function rateLimitSettings(values: Values) {
  const given = numberOrNull(values, 'RATE_LIMIT_PER_MINUTE');
  return {
    rateLimitPerMinute: given === 0 ? null : (given ?? DEFAULT_RATE_LIMIT_PER_MINUTE),
    rateLimitSparesLoopback: given === null,
  };
}

function oidcSettings(values: Values): OidcSettings | null {
  const issuer = settingText(values, 'OIDC_ISSUER') ?? '';
  const clientId = settingText(values, 'OIDC_CLIENT_ID') ?? '';
  return issuer === '' && clientId === '' ? null : { issuer, clientId };
}

function introspectionSettings(values: Values): Settings['introspection'] {
  const [url, clientId, clientSecret] = ['URL', 'CLIENT_ID', 'CLIENT_SECRET'].map(
    (name) => settingText(values, `INTROSPECTION_${name}`) ?? '',
  ) as [string, string, string];
  return [url, clientId, clientSecret].every((each) => each === '') ? null : { url, clientId, clientSecret };
}

function algorithmsOf(values: Values, secret: string | null): JwtSettings['algorithms'] {
  const named = settingWords(values, 'JWT_ALGORITHMS');
  return (named.length > 0 ? named : [secret === null ? 'RS256' : 'HS256']) as JwtSettings['algorithms'];
}

/** Rules over several settings. Each text names the settings it is about. */
function conflictsOf(settings: Settings, env: Environment): string[] {
  return [
    ...portConflicts(settings),
    ...identityConflicts(settings),
    ...candidateConflicts(settings),
    ...signingConflicts(settings),
    ...databaseConflicts(settings, env['NODE_ENV']),
  ];
}

/** Values at paths are found by the leaf index alone. */
function candidateConflicts({ mergeCandidatePaths, aql }: Settings): string[] {
  if (mergeCandidatePaths.length === 0 || aql.leafIndex === 'all') return [];
  return [
    `MERGE_CANDIDATE_PATHS needs AQL_LEAF_INDEX=all: with ${aql.leafIndex} their values are not indexed`,
  ];
}

function signingConflicts({ signing, signingKeysFile }: Settings): string[] {
  if (signing !== 'pgp' || signingKeysFile !== null) return [];
  return ['SIGNING=pgp needs SIGNING_KEYS_FILE: the OpenPGP key that VERSIONs are signed with'];
}

/** A local database where one was hardly meant: a missing or misspelt `MONGODB_URI` must not start an empty one. */
function databaseConflicts({ host, database }: Settings, nodeEnvironment: string | undefined): string[] {
  if (database.mongodbUri !== '' || database.localDatabase !== 'auto') return [];
  const reasons: string[] = [];
  if (!isLoopback(host)) reasons.push(`HOST ${host} can be reached from other machines`);
  if (nodeEnvironment === 'production') reasons.push('NODE_ENV is production');
  if (reasons.length === 0) return [];
  return [
    `MONGODB_URI is empty while ${reasons.join(' and ')}: set it to the connection string of the database, or set LOCAL_DATABASE to embedded or mongod if a local one is meant`,
  ];
}

function portConflicts({ port, managementPort }: Settings): string[] {
  const isTaken = managementPort !== null && managementPort === port && port !== 0;
  return isTaken ? ['MANAGEMENT_PORT must differ from PORT'] : [];
}

function settingText(values: Values, name: string): string | null {
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function numberOrNull(values: Values, name: string): number | null {
  const value = values[name];
  return typeof value === 'number' ? value : null;
}

function settingWords(values: Values, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function configError(problems: readonly string[]): Error {
  const lines = problems.map((line) => `  ${line}`).join('\n');
  return new Error(`the configuration has ${problems.length} problem(s):\n${lines}`);
}
