import './printed.css';
import type { ReactNode } from 'react';
import type { QueryRequest, ResultSet } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';
import { numberText } from '../../../widgets/number-text.js';
import { Time } from '../../../widgets/Time.js';
import { columnsOf, shownText } from './result-columns.js';

/** Rows on paper: some hundred sheets. */
const MOST_ON_PAPER = 5_000;

/**
 * An answer as it goes on paper: the question with its values and as of when it was asked, when it was answered, all rows, which the
 * table on the screen draws only in part.
 */
export function PrintedRows({
  result,
  asked,
  at,
}: {
  readonly result: ResultSet;
  readonly asked: QueryRequest;
  /** When it was answered. */
  readonly at: string;
}): ReactNode {
  const reader = useMessages();
  const { rows } = result;
  const columns = columnsOf(result, reader);
  const count = (value: number): string => numberText(value, reader.language);
  const { q, query_parameters: parameters = {}, as_of: asOf } = asked;
  return (
    <div className="printed">
      <pre className="mono">{q}</pre>
      {Object.entries(parameters).map(([name, value]) => (
        <p key={name} className="mono">
          ${name} = {JSON.stringify(value)}
        </p>
      ))}
      {asOf !== undefined && (
        <p>
          {reader.t('query.asOf')} <Time value={asOf} />
        </p>
      )}
      <p>
        <Time value={at} /> · {reader.t('query.rows', { count: count(rows.length) })}
        {rows.length > MOST_ON_PAPER && ` · ${reader.t('print.most', { count: count(MOST_ON_PAPER) })}`}
      </p>
      {rows.length === asked.fetch && <p>{reader.t('query.most', { count: count(asked.fetch) })}</p>}
      <table>
        <thead>
          <tr>
            {columns.map(({ name, index }) => (
              <th key={index}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ON_PAPER).map((row, number) => (
            <tr key={number}>
              {columns.map(({ index, kind }) => {
                const { text, note } = shownText(row[index] ?? null, kind, reader);
                return <td key={index}>{note === undefined ? text : `${text} (${note})`}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
