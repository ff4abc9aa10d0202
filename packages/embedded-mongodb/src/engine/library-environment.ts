/* eslint-disable no-restricted-properties --
 * These variables are not settings of the product: libraries read them (`NAPI_RS_NATIVE_LIBRARY_PATH`,
 * `MONGOMS_*`, `MALLOC_ARENA_MAX`), or conventions of the system define them (`PATH`, `XDG_CACHE_HOME`).
 */

/** Folders named by the environment in which relinked libraries may be kept. */
export function cacheFolders(): { readonly own: string | undefined; readonly xdg: string | undefined } {
  return { own: nonEmpty('EMBEDDED_MONGODB_CACHE'), xdg: nonEmpty('XDG_CACHE_HOME') };
}

/** Makes the loader of the native package take the library at `path`. */
export function useNativeLibrary(path: string): void {
  process.env['NAPI_RS_NATIVE_LIBRARY_PATH'] = path;
}

/**
 * The environment of a process that runs the engine. Its many threads would each get a pool of memory (arena) from glibc,
 * which keep what they freed: two for all of them are as fast and hold less. Whoever sets the number has it.
 */
export function engineEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, MALLOC_ARENA_MAX: nonEmpty('MALLOC_ARENA_MAX') ?? '2' };
}

/** The folders in which commands are searched. */
export function searchPath(): readonly string[] {
  return (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '');
}

/** A mongod that the user gave to mongodb-memory-server. */
export function systemBinary(): string | undefined {
  return nonEmpty('MONGOMS_SYSTEM_BINARY');
}

/** A single attempt: without it a host that never answers holds a download for minutes. */
export function downloadOnce(): void {
  process.env['MONGOMS_MAX_RETRIES'] ??= '0';
}

/** Where mongodb-memory-server is to download from, and how. */
export function downloadMirror(): { readonly url: string | undefined; readonly isPlainHttp: boolean } {
  return { url: nonEmpty('MONGOMS_DOWNLOAD_MIRROR'), isPlainHttp: nonEmpty('MONGOMS_USE_HTTP') === 'true' };
}

function nonEmpty(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
