import Koa from 'koa';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Settings } from '../base/settings.js';
import { EXPERIMENTAL_TAGS, experimentalTagRoutes } from '../routes/experimental-tag.js';
import { adminRoutes } from '../routes/admin/api.js';
import { managementRoutes } from '../routes/management.js';
import { openapiRoutes } from '../routes/openapi.js';
import { STANDARD_API } from '../routes/request-state.js';
import { statusRoutes } from '../routes/status.js';
import { swaggerUiRoutes } from '../routes/swagger-ui.js';
import { managementSource, type ProcessState } from './management.js';
import { createMetrics, type Metrics } from './metrics.js';
import { authenticate, type TokenVerifier } from './middleware/authenticate.js';
import { readBodyText } from './middleware/body.js';
import { errors } from './middleware/errors.js';
import { concurrencyCap, queryParameterCap, rateLimit } from './middleware/limits.js';
import { origin } from './middleware/origin.js';
import { readAudit } from './middleware/read-audit.js';
import { readyGate } from './middleware/ready-gate.js';
import { requestLog } from './middleware/request-log.js';
import { compression, crossOrigin, securityHeaders } from './middleware/security.js';
import { standardRouters } from './routers.js';
import { tokenVerifier } from './token-verifier.js';

/** What an application shares with the process that runs it. */
export interface Operation {
  readonly metrics: Metrics;
  readonly state: ProcessState;
}

/** An application that is ready at once and counts for itself, as tests need it. */
export function readyOperation(): Operation {
  return { metrics: createMetrics({ ofProcess: false }), state: { indexesBuilt: true, stopping: false } };
}

/**
 * The whole HTTP application, without a socket and without a database connection.
 * Order: log, metrics, security headers, errors, origin, limits, route match (404, 405), token (401, 403), body, route.
 */
export function createApp(settings: Settings, log: Logger, operation: Operation = readyOperation()): Koa {
  const app = new Koa();
  app.silent = true;
  app.use(requestLog(log)).use(operation.metrics.middleware).use(securityHeaders()).use(compression());
  if (settings.corsOrigins.length > 0) app.use(crossOrigin(settings.corsOrigins));
  app.use(errors(log)).use(origin(settings)).use(queryParameterCap());
  if (settings.rateLimitPerMinute !== null) app.use(rateLimit(settings.rateLimitPerMinute));
  if (settings.maxConcurrentRequests !== null) app.use(concurrencyCap(settings.maxConcurrentRequests));
  const verify = tokenVerifier(settings.jwt);
  mountManagement(app, settings, { log, operation, verify });
  app.use(swaggerUiRoutes().routes());
  const roles = [settings.jwt.roleUser, settings.jwt.roleAdmin];
  const guards = [
    readyGate(operation.state),
    authenticate({ verify, roles, open: settings.auth === 'none' }),
    ...(settings.auditReads ? [readAudit()] : []),
    readBodyText(settings),
  ];
  const prefixes = settings.apiAliasV1 ? [STANDARD_API, '/v1'] : [STANDARD_API];
  // One set of routers for both prefixes: the limit of concurrent queries holds over both.
  const routers = standardRouters(settings);
  for (const prefix of prefixes) mount(app, prefix, guards, routers);
  mount(app, EXPERIMENTAL_TAGS, guards, [experimentalTagRoutes()]);
  mount(app, '', [], [openapiRoutes()]);
  if (settings.statusEndpoint) mount(app, '', guards, [statusRoutes()]);
  if (settings.adminApiActive) mountAdmin(app, settings, operation, verify);
  return app;
}

/** Mounts routers below a prefix; the guards run only once a route has matched. */
function mount(app: Koa, prefix: string, guards: readonly Middleware[], routers: readonly Router[]): void {
  const root = new Router({ prefix });
  if (guards.length > 0) root.use(...guards);
  for (const router of routers) root.use(router.routes());
  app.use(root.routes()).use(root.allowedMethods());
}

/** Administration: the token is judged before anything is looked up. Contract, section 13. */
function mountAdmin(app: Koa, settings: Settings, operation: Operation, verify: TokenVerifier | null): void {
  const router = adminRoutes(settings, {
    authenticate: authenticate({ verify, roles: [settings.jwt.roleAdmin], open: false }),
    readBody: readBodyText(settings),
  });
  const gate = new Router().use(readyGate(operation.state), router.routes());
  app.use(gate.routes()).use(router.allowedMethods());
}

function mountManagement(
  app: Koa,
  settings: Settings,
  parts: { readonly log: Logger; readonly operation: Operation; readonly verify: TokenVerifier | null },
): void {
  const { log, operation, verify } = parts;
  const router = managementRoutes({
    endpoints: settings.managementEndpoints,
    guard: authenticate({
      verify,
      roles: settings.managementAccess === 'ADMIN_ONLY' ? [settings.jwt.roleAdmin] : [],
      open: settings.managementAccess === 'PUBLIC',
    }),
    readBody: readBodyText(settings),
    adminRole: settings.jwt.roleAdmin,
    source: managementSource(settings, log, { registry: operation.metrics.registry, state: operation.state }),
  });
  app.use(router.routes()).use(router.allowedMethods());
}
