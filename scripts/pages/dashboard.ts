/** A panel of the dashboard: a metric and what its row says. */
interface Panel {
  readonly name: string;
  readonly text: string;
}

/** The Grafana dashboard as text: a panel for each metric of the table in `page`, docs/operations.md. */
export function dashboardOf(page: string): string {
  const rows = [...page.matchAll(/^\| (`(?:everchart|http_server)_[a-z_]+`.*?) \| (.+?) \|$/gm)];
  const panels = rows.flatMap(([, names = '', text = '']) => namesOf(names).map((name) => ({ name, text })));
  return `${JSON.stringify(
    {
      title: 'everchart',
      uid: 'everchart',
      schemaVersion: 39,
      timezone: 'browser',
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [{ name: 'source', type: 'datasource', query: 'prometheus', label: 'Prometheus' }],
      },
      panels: panels.map(panelOf),
    },
    null,
    2,
  )}\n`;
}

/** `a`, `_b`: the second is the first with another end. */
function namesOf(cell: string): string[] {
  const names = [...cell.replace(/\(.*?\)/g, '').matchAll(/`([a-z0-9_]+)`/g)].map(([, name = '']) => name);
  const [first = ''] = names;
  const stem = first.replace(/_size$/, '');
  return names.map((name) => (name.startsWith('_') ? stem + name : name));
}

function panelOf({ name, text }: Panel, index: number): object {
  return {
    id: index + 1,
    title: name,
    description: text.replaceAll('`', ''),
    type: 'timeseries',
    datasource: { type: 'prometheus', uid: '${source}' },
    gridPos: { h: 8, w: 8, x: (index % 3) * 8, y: Math.floor(index / 3) * 8 },
    fieldConfig: { defaults: { unit: name.endsWith('_seconds') ? 's' : 'short' }, overrides: [] },
    targets: targetsOf(name).map((expr, place) => ({ refId: 'ABC'[place], expr })),
  };
}

const HISTOGRAM = /_(?:requests|commit|group|query)_seconds$|_group_size$|_query_rows$/;

function targetsOf(name: string): string[] {
  if (name.endsWith('_total')) return [`sum(rate(${name}[5m]))`];
  if (name === 'everchart_build_info') return [`sum by (version) (${name})`];
  if (name.endsWith('_up') || name.endsWith('_age_seconds')) return [`min(${name})`];
  if (!HISTOGRAM.test(name)) return [`sum(${name})`];
  return [0.5, 0.95, 0.99].map((q) => `histogram_quantile(${q}, sum by (le) (rate(${name}_bucket[5m])))`);
}
