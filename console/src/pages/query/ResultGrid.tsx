import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { ResultSet } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { cellText, columnsOf, sortedRows, type ResultColumn } from './result-columns.js';

const ROW_HEIGHT = 32;
const WIDTHS = { number: 120, time: 210, text: 240, object: 280 } as const;

/** The rows of an answer; only those in sight are made, so that any number of them scrolls. */
export function ResultGrid({ result }: { readonly result: ResultSet }): ReactNode {
  const { t, language } = useMessages();
  const box = useRef<HTMLDivElement>(null);
  const columns = useMemo(() => columnsOf(result), [result]);
  const [sort, setSort] = useState<{ readonly column: number; readonly isDescending: boolean } | null>(null);
  const rows = useMemo(
    () => (sort === null ? result.rows : sortedRows(result.rows, sort.column, sort.isDescending)),
    [result, sort],
  );
  const shown = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  return (
    <div
      ref={box}
      className="rows"
      role="table"
      aria-rowcount={rows.length}
      aria-label={t('query.table')}
      tabIndex={0}
    >
      <div className="head" role="rowgroup">
        <div role="row">
          {columns.map((column) => (
            <HeadCell
              key={column.index}
              column={column}
              direction={
                sort?.column === column.index ? (sort.isDescending ? 'descending' : 'ascending') : 'none'
              }
              onClick={() => {
                const isSame = sort?.column === column.index;
                setSort({ column: column.index, isDescending: isSame && !sort.isDescending });
              }}
            />
          ))}
        </div>
      </div>
      <div className="body" role="rowgroup" style={{ height: shown.getTotalSize(), position: 'relative' }}>
        {shown.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            role="row"
            aria-rowindex={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            {columns.map((column) => {
              const text = cellText(rows[index]?.[column.index], language);
              return (
                <div key={column.index} role="cell" title={text} {...cellStyle(column)}>
                  {text}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}

function HeadCell({
  column,
  direction,
  onClick,
}: {
  readonly column: ResultColumn;
  readonly direction: 'ascending' | 'descending' | 'none';
  readonly onClick: () => void;
}): ReactNode {
  return (
    <div role="columnheader" aria-sort={direction} {...cellStyle(column)}>
      <UnstyledButton onClick={onClick}>
        {column.name} {direction === 'none' ? '' : direction === 'ascending' ? '↑' : '↓'}
      </UnstyledButton>
    </div>
  );
}

function cellStyle({ kind }: ResultColumn): { className: string; style: { width: number } } {
  const className = kind === 'number' ? 'end number' : kind === 'object' ? 'number' : '';
  return { className, style: { width: WIDTHS[kind] } };
}
