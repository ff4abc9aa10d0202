import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';

/** Requests that came in by the port of management. */
const atManagement = new WeakSet<IncomingMessage>();

/** Notes that a request came in by `MANAGEMENT_PORT`; to be called before the application sees it. */
export function cameToManagement(request: IncomingMessage): void {
  atManagement.add(request);
}

/** By `MANAGEMENT_PORT` nothing but /management is there, by `PORT` everything else. @throws not-found otherwise */
export function managementDoor(): Middleware {
  return async (ctx: Context, next: Next) => {
    // However it is spelt: no router may find by PORT what this does not take for management.
    const isManagement = /^\/+management(\/|$)/i.test(decoded(ctx.path));
    if (isManagement !== atManagement.has(ctx.req))
      throw new CdrError('not-found', `No resource found at path: ${ctx.path.replace(/^\/+|\/+$/g, '')}`);
    await next();
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
