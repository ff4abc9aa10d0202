import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { CdrError } from '../base/errors.js';
import { isJsonObject } from '../base/json.js';
import { parseJson } from '../format/canonical-json.js';
import type { ManagementSource } from './management-access.js';
import { bodyLimits } from './request-body.js';
import { requestState } from './request-state.js';

const LEVELS = ['OFF', 'FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'];

/** What may be asked, by whom, and from where it is answered. */
export interface ManagementRoutesOptions {
  /** Enabled endpoints: `health`, `info`, `env`, `metrics`, `prometheus`, `loggers`. */
  readonly endpoints: readonly string[];
  /** Lets through whom `MANAGEMENT_ACCESS` lets through. */
  readonly guard: Middleware;
  readonly readBody: Middleware;
  /** Upper-cased name of the admin role: it sees the components of health. */
  readonly adminRole: string;
  readonly source: ManagementSource;
}

/** `/management`: contract, section 12. Liveness and readiness are open, the rest stands behind the guard. */
export function managementRoutes(options: ManagementRoutesOptions): Router {
  const router = new Router({ prefix: '/management' });
  probes(router, options.source);
  if (options.endpoints.length === 0) return router;
  router.get('/', options.guard, (ctx) => {
    ctx.body = { _links: links(ctx, options.endpoints) };
  });
  const enabled = new Set(options.endpoints);
  if (enabled.has('health')) health(router, options);
  if (enabled.has('info'))
    router.get('/info', options.guard, (ctx) => void (ctx.body = options.source.info()));
  if (enabled.has('env'))
    router.get('/env', options.guard, (ctx) => void (ctx.body = options.source.environment()));
  if (enabled.has('metrics')) metrics(router, options);
  if (enabled.has('prometheus')) prometheus(router, options);
  if (enabled.has('loggers')) loggers(router, options);
  return router;
}

function links(ctx: Context, endpoints: readonly string[]): Record<string, { href: string }> {
  const base = `${requestState(ctx).origin}/management`;
  return Object.fromEntries([
    ['self', { href: base }],
    ...endpoints.map((name) => [name, { href: `${base}/${name}` }] as const),
  ]);
}

/** Liveness and readiness: open to everyone and always there (ruling R16). */
function probes(router: Router, source: ManagementSource): void {
  router.get('/health/liveness', (ctx) => {
    answerHealth(ctx, true);
  });
  router.get('/health/readiness', async (ctx) => {
    answerHealth(ctx, await source.ready());
  });
}

function health(router: Router, { guard, source, adminRole }: ManagementRoutesOptions): void {
  router.get('/health', guard, async (ctx) => {
    const up = await source.databaseUp();
    answerHealth(ctx, up);
    if (requestState(ctx).user?.roles.includes(adminRole) === true) {
      ctx.body = { status: up ? 'UP' : 'DOWN', components: { db: { status: up ? 'UP' : 'DOWN' } } };
    }
  });
}

function answerHealth(ctx: Context, up: boolean): void {
  ctx.status = up ? 200 : 503;
  if (!up) ctx.set('Retry-After', '1');
  ctx.body = { status: up ? 'UP' : 'DOWN' };
}

function metrics(router: Router, { guard, source }: ManagementRoutesOptions): void {
  router.get('/metrics', guard, (ctx) => {
    ctx.body = { names: source.metricNames() };
  });
  router.get('/metrics/:name', guard, async (ctx) => {
    const tag = ctx.query.tag;
    const tags = tag === undefined ? [] : Array.isArray(tag) ? tag : [tag];
    const metric = await source.metric(ctx.params.name ?? '', tags);
    if (metric === null) throw new CdrError('not-found', 'there is no such metric');
    ctx.body = metric;
  });
}

function prometheus(router: Router, { guard, source }: ManagementRoutesOptions): void {
  router.get('/prometheus', guard, async (ctx) => {
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.body = await source.prometheus();
  });
}

function loggers(router: Router, { guard, readBody, source }: ManagementRoutesOptions): void {
  const view = (level: string): object => ({ configuredLevel: level, effectiveLevel: level });
  router.get('/loggers', guard, (ctx) => {
    const entries = Object.entries(source.loggers()).map(([name, level]) => [name, view(level)]);
    ctx.body = { levels: LEVELS, loggers: Object.fromEntries(entries) as object };
  });
  router.get('/loggers/:name', guard, (ctx) => {
    const level = source.loggers()[ctx.params.name ?? ''];
    if (level === undefined) throw new CdrError('not-found', 'there is no such logger');
    ctx.body = view(level);
  });
  router.post('/loggers/:name', guard, readBody, (ctx) => {
    if (!source.setLevel(ctx.params.name ?? '', requestedLevel(ctx))) {
      throw new CdrError('not-found', 'there is no such logger');
    }
    ctx.status = 204;
  });
}

function requestedLevel(ctx: Context): string {
  const text: unknown = ctx.request.body;
  const body = parseJson(typeof text === 'string' ? text : '', bodyLimits(ctx));
  const level = isJsonObject(body) ? body.configuredLevel : undefined;
  const name = typeof level === 'string' ? level.toUpperCase() : '';
  if (!LEVELS.includes(name))
    throw new CdrError('invalid', `configuredLevel must be one of ${LEVELS.join(', ')}`);
  return name;
}
