import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { CdrError } from '@everchart/client';
import type { QueryRequest } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { AqlEditor } from './AqlEditor.js';
import { ExplainView } from './ExplainView.js';
import { mistakeIn, parameterNames, parameterValue } from './parameters.js';
import { QueryToolbar } from './QueryToolbar.js';
import { ResultView } from './ResultView.js';

/** What an empty editor begins with: a query that every store answers. */
const FIRST_QUERY = `SELECT c/context/start_time/value AS time, c/name/value AS name,
       c/archetype_details/template_id/value AS template
FROM EHR e CONTAINS COMPOSITION c
ORDER BY c/context/start_time/value DESC`;
/** Rows that are asked for where the query sets no limit: what a grid still holds easily. */
const MOST_ROWS = 100_000;

/** Writes and runs AQL. */
export function QueryPage(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const [text, setText] = useState(address.q ?? FIRST_QUERY);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [asOf, setAsOf] = useState('');
  const { run, explain } = useRuns();
  const names = parameterNames(text);
  const request = requestOf({ text, names, values, asOf });
  const shown = explain.isIdle ? run : explain;
  const act = (what: typeof run | typeof explain): void => {
    run.reset();
    explain.reset();
    change({ q: text });
    what.mutate(request);
  };
  const message = shown.error instanceof CdrError ? shown.error.message : null;
  return (
    <Page title={t('nav.query')}>
      <QueryToolbar
        text={text}
        request={request}
        onChoose={setText}
        onRun={() => act(run)}
        onExplain={() => act(explain)}
        isRunning={shown.isPending}
        asOf={asOf}
        onAsOf={setAsOf}
      />
      <AqlEditor
        text={text}
        onChange={setText}
        onRun={() => act(run)}
        mistake={message === null ? null : mistakeIn(message)}
        label={t('query.editor')}
      />
      <Parameters names={names} values={values} onChange={setValues} />
      <div className="below">
        {shown.isPending && <Loading rows={8} />}
        {shown.error !== null && <Failure error={shown.error} />}
        {explain.data !== undefined && <ExplainView explanation={explain.data} />}
        {run.data !== undefined && <ResultView result={run.data.result} ms={run.data.ms} />}
        {run.isIdle && explain.isIdle && <Empty title={t('query.empty')}>{t('query.emptyHint')}</Empty>}
      </div>
    </Page>
  );
}

function useRuns() {
  const api = useApi();
  const run = useMutation({
    mutationFn: async (request: QueryRequest) => {
      const start = performance.now();
      const result = await api.query(request);
      return { result, ms: performance.now() - start };
    },
  });
  const explain = useMutation({ mutationFn: (request: QueryRequest) => api.explain(request) });
  return { run, explain };
}

function requestOf({
  text,
  names,
  values,
  asOf,
}: {
  readonly text: string;
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly asOf: string;
}): QueryRequest {
  const given = names.filter((name) => (values[name] ?? '') !== '');
  return {
    q: text,
    ...(given.length > 0 && {
      query_parameters: Object.fromEntries(given.map((name) => [name, parameterValue(values[name] ?? '')])),
    }),
    ...(!/\b(LIMIT|TOP|OFFSET)\b/i.test(text) && { fetch: MOST_ROWS }),
    ...(asOf !== '' && { as_of: new Date(asOf).toISOString() }),
  };
}

function Parameters({
  names,
  values,
  onChange,
}: {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}): ReactNode {
  if (names.length === 0) return null;
  return (
    <div className="params">
      {names.map((name) => (
        <TextInput
          key={name}
          label={`$${name}`}
          size="xs"
          classNames={{ root: 'mono' }}
          value={values[name] ?? ''}
          onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
        />
      ))}
    </div>
  );
}
