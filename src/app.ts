import Koa, { type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { DIALECTS } from '../openehr/base/dialect.js';
import type { Operation } from '../routes/http/operation/operation.js';
import type { ActivitySource } from '../routes/system/overview.js';
import { recordActivity } from './activity.js';
import { recordDay, type Day } from './day.js';
import { createIdentifier } from './identity/identifier.js';
import type { ProcessState } from './management/management.js';
import { createMetrics, type Metrics } from './metrics.js';
import { audit } from './middleware/audit.js';
import { authenticate, managementDoor } from './middleware/authenticate.js';
import { admission } from './admission/admission.js';
import { answerCaching, compression, crossOrigin, securityHeaders } from './middleware/security.js';
import { headersIn, refusalsIn } from './middleware/dialect.js';
import { clientAddress } from './admission/client-address.js';
import { errors } from './middleware/errors.js';
import { shortPaths } from './middleware/path.js';
import { refuseForeignRequests, origin } from './middleware/origin.js';
import { concurrencyCap, rateLimitByAddress, rateLimitByUser, rateLimitOf } from './middleware/limits.js';
import {
  matchOperation,
  requestWork,
  refuseUnmatched,
  body,
  knownParameters,
  readyGate,
  runOperation,
} from './middleware/operation.js';
import { requestIdentity, requestLog } from './middleware/request-log.js';
import { toldCategories } from './middleware/categories.js';
import { observedPolicies } from './middleware/observing.js';
import { emergencyAccess } from './middleware/emergency.js';
import { tokenScopes } from './middleware/token-scopes.js';
import { accessTags, enforcedPolicies } from './middleware/viewing.js';
import { operationTable } from './operation-table.js';

/** What an application shares with the process that runs it. */
export interface ProcessView {
  readonly metrics: Metrics;
  readonly state: ProcessState;
  readonly activity: ActivitySource;
  readonly day: Day;
  /** Absent: nothing is traced. */
  readonly trace?: Middleware;
}

/** An application that is ready at once and counts for itself, as tests need it. */
export function readyProcess(): ProcessView {
  const metrics = createMetrics({ ofProcess: false });
  return {
    metrics,
    day: recordDay(metrics.registry),
    state: { indexesBuilt: true, stopping: false },
    activity: recordActivity(),
  };
}

/** Notes the first peer that speaks for others without being one of `TRUSTED_PROXIES`. */
function warnOnce(log: Logger, state: ProcessState): (peer: string) => void {
  return (peer) => {
    if (state.distrustedProxy !== undefined) return;
    state.distrustedProxy = peer;
    log.warn(
      { peer },
      'X-Forwarded-For comes from a peer that TRUSTED_PROXIES does not name: all its clients count as one address',
    );
  };
}

/** What minds policies of access and scopes of tokens, as `ACCESS_MODE` and `SMART_SCOPES` say; with `off` nothing does. */
function accessRules(settings: Settings, operations: readonly Operation[], log: Logger): Middleware[] {
  const { accessMode, smartScopes } = settings;
  const hasScopes = smartScopes !== 'off';
  return [
    ...(hasScopes ? [tokenScopes(settings)] : []),
    ...(accessMode === 'off' ? [] : [emergencyAccess(), accessTags(settings)]),
    ...(accessMode === 'dry' ? [toldCategories()] : []),
    ...(accessMode === 'observe' ? [observedPolicies(settings, operations, log)] : []),
    ...(hasScopes || accessMode === 'enforce' ? [enforcedPolicies(settings, operations)] : []),
  ];
}

/**
 * The whole HTTP application, without a socket and without a database connection: one line of middleware that every
 * request passes. What an operation needs stands in its row of the table; nothing is mounted beside it.
 */
export function createApp(settings: Settings, log: Logger, process: ProcessView = readyProcess()): Koa {
  const { metrics, state, activity, day, trace } = process;
  const table = operationTable(settings, log, { registry: metrics.registry, state, activity, day });
  const app = new Koa();
  app.silent = true;
  if (trace !== undefined) app.use(trace);
  app.use(requestLog(log)).use(clientAddress(settings.trustedProxies, warnOnce(log, state)));
  app.use(metrics.middleware).use(securityHeaders()).use(compression());
  if (settings.corsOrigins.length > 0) app.use(crossOrigin(settings.corsOrigins));
  const dialect = DIALECTS[settings.itsRest];
  const [headers, refusals] = [headersIn(dialect), refusalsIn(dialect)];
  if (headers !== null) app.use(headers);
  app.use(answerCaching(settings)).use(errors(log)).use(shortPaths());
  app.use(origin(settings)).use(matchOperation(table)).use(requestWork(settings));
  const rates = rateLimitOf(settings);
  if (rates !== null) app.use(rateLimitByAddress(rates));
  if (settings.maxConcurrentRequests !== null) app.use(concurrencyCap(settings.maxConcurrentRequests));
  if (settings.requestWaitMs > 0) app.use(admission(settings.requestWaitMs, metrics.refused));
  if (settings.managementPort !== null) app.use(managementDoor());
  app.use(audit(settings, log)).use(refuseForeignRequests(settings));
  if (refusals !== null) app.use(refusals);
  const identify = createIdentifier(settings, log);
  app.use(authenticate({ identify, isOpen: settings.auth === 'none', validation: settings.validation }));
  if (rates !== null) app.use(rateLimitByUser(rates));
  app.use(requestIdentity()).use(refuseUnmatched()).use(readyGate(state)).use(knownParameters(settings));
  app.use(body(settings));
  for (const each of accessRules(settings, table.operations, log)) app.use(each);
  app.use(runOperation());
  return app;
}
