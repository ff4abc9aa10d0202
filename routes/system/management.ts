import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { parseJson } from '../../openehr/format/canonical-json.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameters } from '../http/parameter-values.js';
import { bodyReading } from '../http/request/request-body.js';
import { within } from '../../openehr/base/work.js';

const LEVELS = ['OFF', 'FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'];

/** What may be asked, by whom, and from where it is answered. */
interface ManagementOptions {
  /** Enabled endpoints: `health`, `info`, `env`, `metrics`, `prometheus`, `loggers`. */
  readonly endpoints: readonly string[];
  /** `MANAGEMENT_ACCESS`. */
  readonly access: Settings['managementAccess'];
  /** The same of `health`, which tells a server that knows nobody no more than whether it is up. */
  readonly healthAccess: Settings['managementAccess'];
  readonly source: ManagementSource;
}

const PATH = '/management';
const FACTS: Operation['responses'] = {
  200: { description: 'The facts asked for', body: { schema: 'Object', types: 'json' } },
};
const HEALTH: Operation['responses'] = {
  200: { description: 'It is up', body: { schema: 'Health', types: 'json' } },
  503: { description: 'It is down', body: { schema: 'Health', types: 'json' } },
};
const ACCESS = { PUBLIC: 'open', PRIVATE: 'identified', ADMIN_ONLY: 'admin' } as const;

/** Health, metrics and logs of the process. Liveness and readiness are open and always there. */
export function managementOperations(options: ManagementOptions): OperationGroup {
  const enabled = options.endpoints.flatMap((name) => ENDPOINTS[name]?.(options) ?? []);
  return {
    tag: 'Management',
    description: 'Health, metrics and logs of the process, as far as `MANAGEMENT_ENDPOINTS` switches them on',
    operations: [
      ...probes(options),
      ...(options.endpoints.length === 0 ? [] : [linksOperation(options)]),
      ...enabled,
    ],
  };
}

/** The rows of each word of `MANAGEMENT_ENDPOINTS`. */
const ENDPOINTS: Readonly<Record<string, (options: ManagementOptions) => Operation[]>> = {
  health: (options) => [healthOperation(options)],
  info: (options) => [
    fact(options, '/info', 'Get name and version of the build, and the time of the start', (ctx) => {
      ctx.body = options.source.info();
    }),
  ],
  env: (options) => [
    fact(options, '/env', 'Get runtime facts and configuration, secrets masked', (ctx) => {
      ctx.body = options.source.environment();
    }),
  ],
  metrics: metricsOperations,
  prometheus: (options) => [
    {
      ...fact(options, '/prometheus', 'Get all metrics in the text format of Prometheus', (ctx) =>
        writePrometheus(ctx, options),
      ),
      responses: { 200: { description: 'The metrics', body: { schema: 'Text', types: 'text' } } },
    },
  ],
  loggers: loggersOperations,
};

/** A row; `path` below `/management` also gives the id: `/health/liveness` is `management_liveness`. */
function fact(
  { access }: ManagementOptions,
  path: string,
  summary: string,
  handle: Operation['handle'],
): Operation {
  const [word = 'links'] = path
    .split('/')
    .filter((part) => part !== '')
    .reverse();
  return {
    id: `management_${word}`,
    method: 'GET',
    path: `${PATH}${path}`,
    summary,
    access: ACCESS[access],
    audit: 'none',
    discloses: 'nothing',
    responses: FACTS,
    errors: [],
    handle,
  };
}

function probes(options: ManagementOptions): Operation[] {
  const open = { access: 'open', isProbe: true, responses: HEALTH } as const;
  return [
    {
      ...fact(options, '/health/liveness', 'Tell whether the process lives', (ctx) => {
        answerHealth(ctx, true);
      }),
      ...open,
    },
    {
      ...fact(options, '/health/readiness', 'Tell whether requests can be served', async (ctx) => {
        answerHealth(ctx, await options.source.ready());
      }),
      ...open,
    },
  ];
}

function linksOperation(options: ManagementOptions): Operation {
  return fact(options, '', 'List the endpoints that are switched on', (ctx) => {
    const base = `${ctx.state.origin}${PATH}`;
    const links = options.endpoints.map((name) => [name, { href: `${base}/${name}` }] as const);
    ctx.body = { _links: Object.fromEntries([['self', { href: base }], ...links]) as object };
  });
}

function healthOperation(options: ManagementOptions): Operation {
  const handle = async (ctx: Context): Promise<void> => {
    const up = await options.source.databaseUp();
    answerHealth(ctx, up);
    if (ctx.state.user?.permissions.has('admin') === true) {
      const proxy = options.source.distrustedProxy();
      const ahead = up ? await options.source.timeAheadOfClock() : null;
      const components = {
        db: { status: up ? 'UP' : 'DOWN' },
        clock: ahead === null ? { status: 'UP' } : { status: 'UNKNOWN', details: CLOCK_BEHIND(ahead) },
        proxy: proxy === null ? { status: 'UP' } : { status: 'UNKNOWN', details: DISTRUSTED(proxy) },
      };
      ctx.body = { status: up ? 'UP' : 'DOWN', components };
    }
  };
  return {
    ...fact(options, '/health', 'Get the health of server and database', handle),
    access: ACCESS[options.healthAccess],
    responses: HEALTH,
    isProbe: true,
  };
}

/** What an operator is told of a clock that is far behind what was recorded until this time. */
export const CLOCK_BEHIND = (newest: Date): string =>
  `the clock of this server is far behind the newest record, of ${newest.toISOString()}: what is asked as of now does not find it. Set the clock, or wait until then`;

const DISTRUSTED = (peer: string): string =>
  `X-Forwarded-For comes from ${peer}, which TRUSTED_PROXIES does not name: all its clients count as one address`;

function answerHealth(ctx: Context, up: boolean): void {
  ctx.status = up ? 200 : 503;
  if (!up) ctx.set('Retry-After', '1');
  ctx.body = { status: up ? 'UP' : 'DOWN' };
}

function metricsOperations(options: ManagementOptions): Operation[] {
  const { source } = options;
  return [
    fact(options, '/metrics', 'List the names of the metrics', (ctx) => {
      ctx.body = { names: source.metricNames() };
    }),
    {
      ...fact(options, '/metrics/{name}', 'Get one metric', async (ctx) => {
        const tags = queryParameters(ctx, 'metric_tag');
        const metric = await source.metric(pathParameter(ctx, 'name'), tags);
        if (metric === null) throw new CdrError('not-found', 'there is no such metric');
        ctx.body = metric;
      }),
      id: 'management_metric',
      discloses: 'nothing',
      parameters: ['metric_tag'],
      errors: [404],
    },
  ];
}

async function writePrometheus(ctx: Context, { source }: ManagementOptions): Promise<void> {
  ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
  ctx.body = await source.prometheus();
}

function loggersOperations(options: ManagementOptions): Operation[] {
  const { source } = options;
  const view = (level: string): object => ({ configuredLevel: level, effectiveLevel: level });
  return [
    fact(options, '/loggers', 'List the loggers with their levels', (ctx) => {
      const entries = Object.entries(source.loggers()).map(([name, level]) => [name, view(level)]);
      ctx.body = { levels: LEVELS, loggers: Object.fromEntries(entries) as object };
    }),
    {
      ...fact(options, '/loggers/{name}', 'Get the level of a logger', (ctx) => {
        const name = pathParameter(ctx, 'name');
        const loggers = source.loggers();
        const level = Object.hasOwn(loggers, name) ? loggers[name] : undefined;
        if (level === undefined) throw new CdrError('not-found', 'there is no such logger');
        ctx.body = view(level);
      }),
      id: 'management_logger',
      discloses: 'nothing',
      errors: [404],
    },
    {
      ...fact(options, '/loggers/{name}', 'Set the level of a logger', (ctx) => {
        if (!source.setLevel(pathParameter(ctx, 'name'), requestedLevel(ctx)))
          throw new CdrError('not-found', 'there is no such logger');
        ctx.status = 204;
      }),
      id: 'management_logger_set',
      discloses: 'nothing',
      method: 'POST',
      audit: 'admin',
      request: { schema: 'LogLevel', types: 'json' },
      responses: { 204: { description: 'Set' } },
      errors: [400, 404],
    },
  ];
}

function requestedLevel(ctx: Context): string {
  const text: unknown = ctx.request.body;
  const body = within(ctx.state.work, () =>
    parseJson(typeof text === 'string' ? text : '', bodyReading(ctx)),
  );
  const level = isJsonObject(body) ? body.configuredLevel : undefined;
  const name = typeof level === 'string' ? level.toUpperCase() : '';
  if (!LEVELS.includes(name))
    throw new CdrError('invalid', `configuredLevel must be one of ${LEVELS.join(', ')}`);
  return name;
}

/** One measured value of a metric. */
interface MetricMeasurement {
  readonly statistic: string;
  readonly value: number;
}

/** A metric as the management API shows it. */
export interface MetricView {
  readonly name: string;
  readonly description: string;
  readonly baseUnit: string | null;
  readonly measurements: readonly MetricMeasurement[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

/** What the management routes need of the process they run in; made in `src/`. */
export interface ManagementSource {
  /** Whether this process serves requests: the database answers and its indexes are built. */
  ready(): Promise<boolean>;
  databaseUp(): Promise<boolean>;
  /** A peer that speaks for others without being trusted; null: none was seen. */
  distrustedProxy(): string | null;
  /** The newest time of what is recorded where the clock is far behind it; null: it is not, or nobody can tell. */
  timeAheadOfClock(): Promise<Date | null>;
  info(): JsonObject;
  /** Runtime facts and configuration, secrets already masked. */
  environment(): JsonObject;
  metricNames(): readonly string[];
  /** null: no such metric. `tags`: `key:value` filters. */
  metric(name: string, tags: readonly string[]): Promise<MetricView | null>;
  prometheus(): Promise<string>;
  /** Name and level of each logger, upper case. */
  loggers(): Readonly<Record<string, string>>;
  /** false: no such logger. */
  setLevel(logger: string, level: string): boolean;
}
