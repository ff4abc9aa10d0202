import { Button, SegmentedControl, Text } from '@mantine/core';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { Explanation, QueryWarning, ResultSet } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';
import { useIsPrinting, usePrintNote } from '../../../widgets/use-print.js';
import { milliseconds, numberText } from '../../../widgets/number-text.js';
import { Empty, Loading } from '../../../widgets/states.js';
import { CopyText } from '../../composition/SourceText.js';
import { ExplainView } from '../ExplainView.js';
import type { AnsweredRows } from '../use-runs.js';
import { download } from './download.js';
import { PrintedRows } from './PrintedRows.js';
import { csvOf, MOST_ROWS } from './result-columns.js';
import { ResultGrid } from './ResultGrid.js';

const ResultChart = lazy(() =>
  import('./ResultChart.js').then((module) => ({ default: module.ResultChart })),
);

/** Rows that are shown as JSON; a file holds all. */
const JSON_ROWS = 1_000;

type Form = 'table' | 'chart' | 'json' | 'explain';

/** An answer: its rows as table, chart or JSON with the file to take along, and how they are found. */
export function ResultView({
  rows,
  explanation,
  first,
}: {
  readonly rows: AnsweredRows | undefined;
  readonly explanation: Explanation | undefined;
  /** What is shown first. */
  readonly first: Form;
}): ReactNode {
  const { t } = useMessages();
  const [form, setForm] = useState<Form>(first);
  const isPrinting = useIsPrinting();
  usePrintNote(rows === undefined ? null : { of: 'result', q: rows.asked.q });
  const forms: Form[] = [
    ...(rows === undefined ? [] : (['table', 'chart', 'json'] as const)),
    ...(explanation === undefined ? [] : (['explain'] as const)),
  ];
  if (isPrinting && rows !== undefined && form === 'table') return <PrintedRows {...rows} />;
  return (
    <>
      <div className="result-head">
        <SegmentedControl
          size="xs"
          aria-label={t('query.answer')}
          value={form}
          onChange={(next) => setForm(next)}
          data={forms.map((value) => ({ value, label: t(`query.${value}`) }))}
        />
        {rows !== undefined && form !== 'explain' && <RowsHead {...rows} />}
      </div>
      {form === 'explain'
        ? explanation !== undefined && <ExplainView explanation={explanation} />
        : rows !== undefined && <Rows result={rows.result} form={form} />}
    </>
  );
}

/** How many rows there are, and files of them. */
function RowsHead({ result, ms }: AnsweredRows): ReactNode {
  const { t, language } = useMessages();
  return (
    <>
      <Text size="sm" c="dimmed" className="number" role="status">
        {t('query.rows', { count: numberText(result.rows.length, language) })} · {milliseconds(ms, language)}
      </Text>
      <Button
        size="xs"
        variant="default"
        ml="auto"
        onClick={() => download('result.csv', 'text/csv', csvOf(result))}
      >
        CSV
      </Button>
      <Button
        size="xs"
        variant="default"
        onClick={() =>
          download(
            'result.ndjson',
            'application/x-ndjson',
            result.rows.map((row) => JSON.stringify(row)).join('\n'),
          )
        }
      >
        NDJSON
      </Button>
      <Button size="xs" variant="default" onClick={() => window.print()}>
        {t('print.print')}
      </Button>
    </>
  );
}

/** What the server says that the rows are not. */
function Limits({ meta }: { readonly meta: NonNullable<ResultSet['meta']> }): ReactNode {
  const { t, language } = useMessages();
  const { warnings = [], _withheld: isWithheld, _least_patients: least } = meta;
  return (
    <>
      <QueryWarnings warnings={warnings} />
      {isWithheld === true && <Text c="dimmed">{t('query.withheld')}</Text>}
      {least !== undefined && (
        <Text c="dimmed">{t('query.leastPatients', { count: numberText(least, language) })}</Text>
      )}
    </>
  );
}

function Rows({ result, form }: { readonly result: ResultSet; readonly form: Form }): ReactNode {
  const { t, language } = useMessages();
  const most = numberText(MOST_ROWS, language);
  return (
    <>
      <Limits meta={result.meta ?? {}} />
      {result.rows.length === MOST_ROWS && <Text className="flag">{t('query.most', { count: most })}</Text>}
      {form === 'json' && result.rows.length > JSON_ROWS && (
        <Text size="sm" c="dimmed">
          {t('query.jsonMost', { count: numberText(JSON_ROWS, language) })}
        </Text>
      )}
      {result.rows.length === 0 ? (
        <Empty title={t('query.noRows')}>{t('query.noRowsHint')}</Empty>
      ) : (
        <Suspense fallback={<Loading rows={8} />}>
          {form === 'table' && <ResultGrid result={result} />}
          {form === 'chart' && <ResultChart result={result} />}
          {form === 'json' && (
            <CopyText text={JSON.stringify(result.rows.slice(0, JSON_ROWS), null, 2)} label="JSON" />
          )}
        </Suspense>
      )}
    </>
  );
}

/** What the server doubts of the query, with the place in its text. */
function QueryWarnings({ warnings }: { readonly warnings: readonly QueryWarning[] }): ReactNode {
  const { t } = useMessages();
  if (warnings.length === 0) return null;
  return (
    <ul className="warnings" aria-label={t('query.warnings')}>
      {warnings.map(({ line, column, message }) => (
        <li key={`${line}:${column} ${message}`}>
          {t('query.warningAt', { line: String(line), column: String(column) })}: {message}
        </li>
      ))}
    </ul>
  );
}
