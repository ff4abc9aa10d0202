import Koa from 'koa';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Settings } from '../base/settings.js';
import { STANDARD_API } from '../routes/request-state.js';
import { statusRoutes } from '../routes/status.js';
import { authenticate } from './middleware/authenticate.js';
import { readBodyText } from './middleware/body.js';
import { errors } from './middleware/errors.js';
import { origin } from './middleware/origin.js';
import { requestLog } from './middleware/request-log.js';
import { standardRouters } from './routers.js';
import { tokenVerifier } from './token-verifier.js';

/**
 * The whole HTTP application, without a socket and without a database connection.
 * Order: log, errors, origin, route match (404, 405), token (401, 403), body, route.
 */
export function createApp(settings: Settings, log: Logger): Koa {
  const app = new Koa();
  app.silent = true;
  app.use(requestLog(log)).use(errors(log)).use(origin(settings));
  const verify = tokenVerifier(settings.jwt);
  const standard = [
    authenticate({
      verify,
      roles: [settings.jwt.roleUser, settings.jwt.roleAdmin],
      open: settings.auth === 'none',
    }),
    readBodyText(settings.maxBodyBytes),
  ];
  const prefixes = settings.apiAliasV1 ? [STANDARD_API, '/v1'] : [STANDARD_API];
  for (const prefix of prefixes) mount(app, prefix, standard, standardRouters(settings));
  if (settings.statusEndpoint) mount(app, '', standard, [statusRoutes()]);
  return app;
}

/** Mounts routers below a prefix; the guards run only once a route has matched. */
function mount(app: Koa, prefix: string, guards: readonly Middleware[], routers: readonly Router[]): void {
  const root = new Router({ prefix });
  root.use(...guards);
  for (const router of routers) root.use(router.routes());
  app.use(root.routes()).use(root.allowedMethods());
}
