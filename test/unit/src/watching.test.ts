import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { dashboardOf } from '../../../scripts/pages/dashboard.js';
import { createMetrics } from '../../../src/metrics.js';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const RULES = 'deploy/helm/rules.yaml';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
const { groups } = parse(text(RULES)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

const { registry } = createMetrics({ ofProcess: true });
const known = registry.getMetricsAsArray().map(({ name }) => name);
const used = (source: string): string[] =>
  [...source.matchAll(/\b(?:everchart|http_server|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(?:bucket|count|sum)$/, ''),
  );

describe('the dashboard', () => {
  it('shows each metric of the table in docs/operations.md, and the table has all', () => {
    const page = text('docs/operations.md');
    const board = text('deploy/grafana-dashboard.json');
    expect(board).toBe(dashboardOf(page));
    const shown = [...new Set(used(board))];
    expect(shown.filter((name) => !known.includes(name))).toEqual([]);
    const own = known.filter((name) => /^(?:everchart|http_server)_/.test(name));
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });
});

/** An hour of samples, one a minute: what each alert must not be silent about. */
const TROUBLE: Record<string, Record<string, string>> = {
  EverchartGone: { other: '1x90' },
  EverchartDatabaseDown: {
    'everchart_database_up{pod="a"}': '1x90',
    'everchart_database_up{pod="b"}': '0x90',
  },
  EverchartErrors: {
    'http_server_requests_seconds_count{status="200"}': '0+100x90',
    'http_server_requests_seconds_count{status="503"}': '0+2x90',
  },
  EverchartCommitsSlow: {
    'everchart_commit_seconds_bucket{le="1"}': '0+90x90',
    'everchart_commit_seconds_bucket{le="2.5"}': '0+100x90',
    'everchart_commit_seconds_bucket{le="+Inf"}': '0+100x90',
  },
  EverchartRequestsRefused: { 'everchart_requests_refused_total{kind="read"}': '0+10x90' },
  EverchartQueriesWaiting: {
    'everchart_queries_waiting{pod="a"}': '6x90',
    'everchart_queries_waiting{pod="b"}': '6x90',
  },
  EverchartPoolExhausted: { everchart_database_pool_waiting: '11x90' },
  EverchartNotSealed: {
    everchart_seal_age_seconds: '0+60x90',
    everchart_versions_committed_total: '0+1x90',
  },
  EverchartSignInsFail: { 'everchart_sign_ins_failed_total{scheme="basic"}': '0+90x90' },
  EverchartEventLoopBlocked: { nodejs_eventloop_lag_p99_seconds: '0.6x90' },
};

/** A server with work that nobody needs to look at. */
const HEALTHY = {
  'everchart_build_info{version="0.2.0"}': '1x90',
  'everchart_database_up{pod="a"}': '1x90',
  'http_server_requests_seconds_count{status="200"}': '0+1000x90',
  'http_server_requests_seconds_count{status="503"}': '0+1x90',
  'everchart_commit_seconds_bucket{le="1"}': '0+99x90',
  'everchart_commit_seconds_bucket{le="+Inf"}': '0+100x90',
  'everchart_requests_refused_total{kind="read"}': '0+1x90',
  everchart_queries_waiting: '9x90',
  everchart_database_pool_waiting: '1x90',
  everchart_seal_age_seconds: '5x90',
  everchart_versions_committed_total: '0+1000x90',
  'everchart_sign_ins_failed_total{scheme="basic"}': '0+5x90',
  nodejs_eventloop_lag_p99_seconds: '0.02x90',
};

/** No commit for a long time: no seal has to be new. */
const IDLE = { everchart_seal_age_seconds: '0+60x90', everchart_versions_committed_total: '7x90' };

const seriesOf = (samples: Record<string, string>): object[] =>
  Object.entries(samples).map(([series, values]) => ({ series, values }));
const silent = ({ alert: alertname }: Rule): object => ({ eval_time: '85m', alertname, exp_alerts: [] });
const alarmed = ({ alert: alertname, labels, annotations }: Rule): object => ({
  eval_time: '85m',
  alertname,
  exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }],
});

describe('the alerts', () => {
  it('ask only for metrics that there are', () => {
    for (const { expr } of rules) expect(used(expr).length).toBeGreaterThan(0);
    expect(rules.flatMap(({ expr }) => used(expr)).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('each have a severity, a sentence, a time to wait, and a case below', () => {
    for (const rule of rules) {
      expect(rule.labels.severity).toMatch(/^(?:critical|warning)$/);
      expect(rule.annotations.summary).toMatch(/^[A-Z]/);
      expect(rule.for).toMatch(/^\d+m$/);
    }
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(TROUBLE));
  });

  it('take rates of counters, of a range each', () => {
    for (const { alert, expr } of rules) {
      const ofRange = [...expr.matchAll(/\b(?:rate|increase)\((\w+)(?:\{[^}]*\})?\[\d+[mh]\]\)/g)].map(
        ([, name]) => name,
      );
      const counters = [...expr.matchAll(/\b\w+_(?:total|count|bucket)\b/g)].map(([name]) => name);
      expect([alert, ofRange]).toEqual([alert, counters]);
    }
  });

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
  (hasPromtool ? it : it.skip)('sound as they should, and never while all is well, says promtool', () => {
    const file = fileURLToPath(new URL(RULES, root));
    expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain(
      `SUCCESS: ${rules.length} rules found`,
    );
    const folder = mkdtempSync(join(tmpdir(), 'everchart-alerts-'));
    try {
      const tests = [
        { interval: '1m', input_series: seriesOf(HEALTHY), alert_rule_test: rules.map(silent) },
        {
          interval: '1m',
          input_series: seriesOf(IDLE),
          alert_rule_test: rules.filter(({ alert }) => alert === 'EverchartNotSealed').map(silent),
        },
        ...rules.map((rule) => ({
          interval: '1m',
          input_series: seriesOf(TROUBLE[rule.alert]!),
          alert_rule_test: [alarmed(rule)],
        })),
      ];
      const path = join(folder, 'alerts.test.yaml');
      writeFileSync(path, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
      expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  (hasPromtool ? it : it.skip)('watch metrics that are named as promtool wants them', async () => {
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await registry.metrics(),
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
  });
});
