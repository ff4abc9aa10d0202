import type { Context } from 'koa';
import { CdrError } from '../../base/errors.js';
import { parseVersionAtTime } from '../../base/iso8601.js';
import { objectNotFound } from '../../change/refusal.js';
import type { RootType } from '../../models/layout.js';
import { latestVersion, versionAtTime, versionById, type VersionDoc } from '../../models/version.js';
import type { NamedVersion } from '../http/path-ids.js';
import { queryParameter } from '../http/query-parameter.js';

/** `version_at_time`, null when absent or blank. @throws invalid when it is no date-time */
export function versionAtTimeFrom(ctx: Context, defaultTimezone: string): Date | null {
  const text = queryParameter(ctx, 'version_at_time')?.trim() ?? '';
  if (text === '') return null;
  try {
    return parseVersionAtTime(text, defaultTimezone);
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const message = `the value is not valid for version_at_time parameter: ${error.message}`;
    throw new CdrError('invalid', message, { cause: error });
  }
}

/** The version with this uid. @throws not-found */
export async function requireVersion(
  ehrId: string,
  type: RootType,
  { uid }: Pick<NamedVersion, 'uid'>,
): Promise<VersionDoc> {
  const version = await versionById(ehrId, type, uid);
  if (version === null) throw objectNotFound(ehrId, type, uid);
  return version;
}

/** The version of a container extant at a time; null = the latest. @throws not-found */
export async function requireVersionAt(
  ehrId: string,
  type: RootType,
  objectId: string,
  time: Date | null,
): Promise<VersionDoc> {
  const version = await (time === null
    ? latestVersion(ehrId, type, objectId)
    : versionAtTime(ehrId, type, objectId, time));
  if (version !== null) return version;
  if (time === null) throw objectNotFound(ehrId, type, objectId);
  throw new CdrError('not-found', `${type} with id ${objectId} did not exist at that time`);
}
