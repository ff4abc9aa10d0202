import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Json, ResultSet } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';
import { cellText, columnsOf, sortedRows, type ResultColumn } from './result-columns.js';

const ROW_HEIGHT = 32;
const WIDTHS = { number: 120, time: 210, text: 240, object: 280 } as const;

/** By which column rows are sorted. */
interface Sort {
  readonly column: number;
  readonly isDescending: boolean;
}

/** The rows of an answer; only those in sight are made, so that any number of them scrolls. */
export function ResultGrid({ result }: { readonly result: ResultSet }): ReactNode {
  const { t } = useMessages();
  const box = useRef<HTMLDivElement>(null);
  const columns = useMemo(() => columnsOf(result), [result]);
  const [sort, setSort] = useState<Sort | null>(null);
  const rows = useMemo(
    () => (sort === null ? result.rows : sortedRows(result.rows, sort.column, sort.isDescending)),
    [result, sort],
  );
  const onSort = useCallback((column: number): void => {
    setSort((before) => ({ column, isDescending: before?.column === column && !before.isDescending }));
  }, []);
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
      aria-rowcount={rows.length + 1}
      aria-label={t('query.table')}
      tabIndex={0}
    >
      <Head columns={columns} sort={sort} onSort={onSort} />
      <div className="body" role="rowgroup" style={{ height: shown.getTotalSize(), position: 'relative' }}>
        {shown.getVirtualItems().map(({ index, start }) => (
          <Row key={index} index={index} start={start} row={rows[index]} columns={columns} />
        ))}
      </div>
    </div>
  );
}

/** Not drawn again while the rows are scrolled. */
const Head = memo(function Head({
  columns,
  sort,
  onSort,
}: {
  readonly columns: readonly ResultColumn[];
  readonly sort: Sort | null;
  readonly onSort: (column: number) => void;
}): ReactNode {
  return (
    <div className="head" role="rowgroup">
      <div role="row" aria-rowindex={1}>
        {columns.map((column) => {
          const direction =
            sort?.column !== column.index ? 'none' : sort.isDescending ? 'descending' : 'ascending';
          return (
            <div key={column.index} role="columnheader" aria-sort={direction} {...cellStyle(column)}>
              <UnstyledButton onClick={() => onSort(column.index)}>
                {column.name} {direction === 'none' ? '' : direction === 'ascending' ? '↑' : '↓'}
              </UnstyledButton>
            </div>
          );
        })}
      </div>
    </div>
  );
});

/** Not drawn again while it is in sight. */
const Row = memo(function Row({
  index,
  start,
  row,
  columns,
}: {
  readonly index: number;
  /** How far below the head, px. */
  readonly start: number;
  readonly row: readonly Json[] | undefined;
  readonly columns: readonly ResultColumn[];
}): ReactNode {
  const reader = useMessages();
  return (
    <div role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${start}px)` }}>
      {columns.map((column) => {
        const text = cellText(row?.[column.index], reader);
        return (
          <div key={column.index} role="cell" title={text} {...cellStyle(column)}>
            {text}
          </div>
        );
      })}
    </div>
  );
});

function cellStyle({ kind }: ResultColumn): { className: string; style: { width: number } } {
  const className = kind === 'number' ? 'end number' : kind === 'object' ? 'number' : '';
  return { className, style: { width: WIDTHS[kind] } };
}
