import { CdrError } from '@everchart/client';

/** Whom the server knows, with what he may do; null or missing: nobody. */
interface KnownUser {
  readonly user?: { readonly permissions: readonly string[] } | null;
}

/** Operations that answer it. */
interface Asked {
  readonly overview: () => Promise<KnownUser>;
  readonly permissions: () => Promise<KnownUser>;
  readonly adminStatus: () => Promise<unknown>;
}

/** What the user may do; nothing: the server refuses him. @throws CdrError when it cannot be asked */
export async function permissionsOf(api: Asked): Promise<readonly string[]> {
  return (await unlessRefused(officePermissions(api))) ?? [];
}

/**
 * What the user may do, as the server says it to whoever may read, else to whoever may audit, and else by what it refuses: no
 * operation says it to everybody. @throws CdrError 401 or 403 for whoever may neither read, audit nor administrate, which says why
 */
export async function officePermissions(api: Asked): Promise<readonly string[]> {
  const overview = await unlessRefused(api.overview());
  if (overview?.user) return overview.user.permissions;
  const report = await unlessRefused(api.permissions());
  if (report?.user) return report.user.permissions;
  await api.adminStatus();
  return ['admin'];
}

async function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CdrError && [401, 403, 404].includes(error.status)) return null;
    throw error;
  }
}
