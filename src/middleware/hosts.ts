import type { Settings } from '../../config/settings.js';

/** Tells whether a request may name this host, with or without port, as that of the server. */
export type IsOwnHost = (host: string) => boolean;

/**
 * The hosts of a server: names of the machine itself, the host of `PUBLIC_BASE_URL`, those of `ALLOWED_HOSTS`, and the
 * one it listens on where that is a particular one.
 */
export function ownHosts({ allowedHosts, publicBaseUrl, host }: Settings): IsOwnHost {
  const known = new Set(allowedHosts.map(named));
  if (publicBaseUrl !== null) known.add(named(new URL(publicBaseUrl).host));
  known.add(named(host.includes(':') ? `[${host}]` : host));
  for (const anywhere of ['0.0.0.0', '[::]']) known.delete(anywhere);
  return (asked) => {
    const full = named(asked);
    const name = full.replace(/:\d{1,5}$/, '');
    return isLoopbackName(name) || known.has(full) || known.has(name);
  };
}

function named(host: string): string {
  return host.toLowerCase().replace(/\.(?=:\d+$|$)/, '');
}

/** Names that no other machine can have: RFC 6761, section 6.3. */
function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}
