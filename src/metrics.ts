import type { Context, Middleware, Next } from 'koa';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { onEvent } from '../database/events.js';
import { poolUse, type PoolUse } from '../database/connect.js';
import type { AdmittedKind } from './admission/admission.js';
import { matchedRoute } from './middleware/request-log.js';
import { databaseAnswers } from '../models/access/server-status.js';
import { sealAgeSeconds } from '../models/cross-collection/seal-block.js';
import { waitingQueries } from '../workers/gate.js';
import { PRODUCT_VERSION } from '../routes/http/product.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
] as const;

/** Everything this process counts. One registry per application. */
export interface Metrics {
  readonly registry: Registry;
  /** Counts requests by route pattern, method and status, and their time. */
  readonly middleware: Middleware;
  /** Counts a request that was refused because too many were under way. */
  readonly refused: (kind: AdmittedKind) => void;
}

/**
 * Builds the registry: requests, commits, queries, merges, template cache, connections to the database; with
 * `ofProcess` also memory, processor, garbage collection and event-loop delay.
 */
export function createMetrics({ ofProcess }: { readonly ofProcess: boolean }): Metrics {
  const registry = new Registry();
  if (ofProcess) {
    collectDefaultMetrics({ register: registry });
    // Gauges that are named as counters are: tools take them for some.
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const requests = new Histogram({
    name: 'http_server_requests_seconds',
    help: 'Time of HTTP requests by method, route pattern and status',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });
  const running = new Gauge({
    name: 'http_server_requests_running',
    help: 'HTTP requests under way',
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'everchart_requests_refused_total',
    help: 'Requests refused because too many were under way, by kind',
    labelNames: ['kind'],
    registers: [registry],
  });
  const ignored = new Counter({
    name: 'everchart_ignored_total',
    help: 'What of requests was ignored or replaced, with a Warning in the answer, by kind',
    labelNames: ['kind'],
    registers: [registry],
  });
  onEvent('ignored', ({ kind }) => {
    ignored.inc({ kind });
  });
  observeCommits(registry);
  observeQueries(registry);
  observePool(registry);
  observeState(registry);
  const refused = (kind: AdmittedKind): void => {
    refusals.inc({ kind });
  };
  return { registry, middleware: requestMetrics(requests, running), refused };
}

function requestMetrics(requests: Histogram<'method' | 'route' | 'status'>, running: Gauge): Middleware {
  return async (ctx: Context, next: Next) => {
    const start = performance.now();
    running.inc();
    try {
      await next();
    } finally {
      running.dec();
      const labels = { method: ctx.method, route: matchedRoute(ctx), status: ctx.status };
      requests.observe(labels, (performance.now() - start) / 1000);
    }
  };
}

function observeCommits(registry: Registry): void {
  const commits = new Histogram({
    name: 'everchart_commit_seconds',
    help: 'Time of the transactions that commit a CONTRIBUTION',
    buckets: SECONDS,
    registers: [registry],
  });
  const versions = new Counter({
    name: 'everchart_versions_committed_total',
    help: 'VERSIONs committed',
    registers: [registry],
  });
  const merges = new Counter({
    name: 'everchart_ehr_merges_total',
    help: 'EHR merges and unmerges by kind',
    labelNames: ['kind'],
    registers: [registry],
  });
  onEvent('commit', ({ seconds, versions: count }) => {
    commits.observe(seconds);
    versions.inc(count);
  });
  const groups = new Histogram({
    name: 'everchart_commit_group_size',
    help: 'CONTRIBUTIONs that one transaction committed',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers: [registry],
  });
  const groupSeconds = new Histogram({
    name: 'everchart_commit_group_seconds',
    help: 'Time of the transactions that committed CONTRIBUTIONs, without waiting for the one before',
    buckets: SECONDS,
    registers: [registry],
  });
  onEvent('commitGroup', ({ size, seconds }) => {
    groups.observe(size);
    groupSeconds.observe(seconds);
  });
  onEvent('merge', ({ kind }) => {
    merges.inc({ kind });
  });
}

function observeQueries(registry: Registry): void {
  const queries = new Histogram({
    name: 'everchart_query_seconds',
    help: 'Time of AQL queries, database included',
    buckets: SECONDS,
    registers: [registry],
  });
  const rows = new Histogram({
    name: 'everchart_query_rows',
    help: 'Rows of AQL answers',
    buckets: [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
    registers: [registry],
  });
  const cache = new Counter({
    name: 'everchart_template_cache_total',
    help: 'Reads of compiled templates by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const budgets = new Counter({
    name: 'everchart_budget_exceeded_total',
    help: 'Requests that used up a budget, by its name',
    labelNames: ['budget'],
    registers: [registry],
  });
  onEvent('budget', ({ name }) => {
    budgets.inc({ budget: name });
  });
  onEvent('query', ({ seconds, rows: count }) => {
    queries.observe(seconds);
    rows.observe(count);
  });
  onEvent('templateCache', ({ outcome }) => {
    cache.inc({ outcome });
  });
}

/** Read when asked for, since the driver has several events a second for each connection. */
function observePool(registry: Registry): void {
  const gauge = (name: keyof PoolUse, metric: string, help: string): Gauge =>
    new Gauge({
      name: `everchart_database_pool_${metric}`,
      help,
      registers: [registry],
      collect() {
        this.set(poolUse()[name]);
      },
    });
  gauge('size', 'size', 'Open connections to the database');
  gauge('checkedOut', 'checked_out', 'Connections to the database in use');
  gauge('waiting', 'waiting', 'Operations that wait for a connection to the database');
}

/** What an alarm asks first. Of several workers the value is that of all: each sees the same database. */
function observeState(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'everchart_build_info',
    help: 'Always 1, with the version of everchart and of Node.js',
    labelNames: ['version', 'node'],
    registers,
    aggregator: 'first',
  }).set({ version: PRODUCT_VERSION, node: process.version }, 1);
  new Gauge({
    name: 'everchart_database_up',
    help: 'Whether the database answers: 1 or 0',
    registers,
    aggregator: 'min',
    async collect() {
      this.set((await databaseAnswers()) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'everchart_seal_age_seconds',
    help: 'Time since the newest block of the seals; NaN while there is none or the database is away',
    registers,
    aggregator: 'min',
    async collect() {
      this.set(await sealAgeSeconds().catch(() => NaN));
    },
  });
  new Gauge({
    name: 'everchart_queries_waiting',
    help: 'AQL queries that wait for a place',
    registers,
    collect() {
      this.set(waitingQueries());
    },
  });
  countTokens(registers);
  const signIns = new Counter({
    name: 'everchart_sign_ins_failed_total',
    help: 'Requests whose Authorization was not believed, by its scheme',
    labelNames: ['scheme'],
    registers,
  });
  onEvent('signInFailure', ({ scheme }) => {
    signIns.inc({ scheme });
  });
}

/** What tokens say in vain. */
function countTokens(registers: Registry[]): void {
  const scopes = new Counter({
    name: 'everchart_unreadable_scopes_total',
    help: 'Scopes of tokens that look as SMART on openEHR has them and cannot be read, so that they grant nothing',
    registers,
  });
  onEvent('unreadableScopes', ({ count }) => {
    scopes.inc(count);
  });
  const emergencies = new Counter({
    name: 'everchart_emergency_access_total',
    help: 'Requests that stated an emergency and were recorded as such, by purpose of use',
    labelNames: ['purpose'],
    registers,
  });
  for (const purpose of ['ETREAT', 'BTG']) emergencies.inc({ purpose }, 0);
  onEvent('emergencyAccess', ({ purpose }) => {
    emergencies.inc({ purpose });
  });
}
