import { distance } from 'fastest-levenshtein';
import type { Logger } from 'pino';
import { SETTINGS } from './setting-list.js';

/** First words that only our settings have; others, such as `LOG_` or `PUBLIC_`, belong to many programs. */
const PREFIXES = [
  'ADMIN_API_',
  'AQL_',
  'AUDIT_',
  'CHECK_',
  'EMBEDDED_',
  'JWT_',
  'MANAGEMENT_',
  'MONGODB_',
  'TERMINOLOGY_',
  'TRUSTED_',
];

/** Slips that make another word of a short name: `PATH` is two from `AUTH`, `HOME` two from `HOST`. */
const SHORT_NAME = 5;

/** Variables of a Kubernetes Service named like the first words of a setting. */
const SERVICE_NAME = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\/\S+:\d+$/;

/** A variable that is no setting but looks like one. */
export interface MisspeltSetting {
  readonly name: string;
  readonly nearest: string;
}

/** Whether Kubernetes made the variable for a Service: `MONGODB_PORT_27017_TCP`, `MANAGEMENT_PORT=tcp://…`. */
export function isMadeByKubernetes(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

/** The variables that are probably misspelt settings, each with the nearest right name. Nothing depends on values. */
export function misspeltSettings(env: Readonly<Record<string, string | undefined>>): MisspeltSetting[] {
  const known = new Set(SETTINGS.map(({ name }) => name));
  return Object.entries(env).flatMap(([name, value]) => {
    if (known.has(name) || isMadeByKubernetes(name, value ?? '')) return [];
    const nearest = nearestSetting(name.toUpperCase(), [...known]);
    return nearest === null ? [] : [{ name, nearest }];
  });
}

/** One line at level warn for each probably misspelt setting, without its value. */
export function logMisspeltSettings(log: Logger, env: Readonly<Record<string, string | undefined>>): void {
  for (const { name, nearest } of misspeltSettings(env))
    log.warn({ setting: name, nearest }, `there is no setting ${name}; did you mean ${nearest}?`);
}

function nearestSetting(name: string, known: readonly string[]): string | null {
  const slips = (right: string): number => distance(name, right);
  const isNear = known.some(
    (right) => slips(right) <= (Math.min(right.length, name.length) <= SHORT_NAME ? 1 : 2),
  );
  if (!isNear && !PREFIXES.some((prefix) => name.startsWith(prefix))) return null;
  return known.reduce((best, right) => (slips(right) < slips(best) ? right : best));
}
