import './grid.css';
import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';
import type { Json, ResultSet } from '../../../api/types.js';
import { useMessages } from '../../../messages/messages.js';
import { compositionView, patientView } from '../../../shell/address.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import {
  columnsOf,
  ehrColumn,
  MOST_PX,
  shownText,
  sortedRows,
  targetOf,
  type ResultColumn,
} from './result-columns.js';

const ROW_HEIGHT = 32;
/** Widest and narrowest that a column is drawn. */
const WIDEST = 4 * MOST_PX;
const NARROWEST = 48;
/** By how much the arrow keys change a width. */
const STEP = 24;

/** By which column rows are sorted. */
interface Sort {
  readonly column: number;
  readonly isDescending: boolean;
}

/** The rows of an answer; only those in sight are made, so that any number of them scrolls. */
export function ResultGrid({ result }: { readonly result: ResultSet }): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const box = useRef<HTMLDivElement>(null);
  const found = useMemo(() => columnsOf(result, reader), [result, reader]);
  const [widths, setWidths] = useState<Readonly<Record<number, number>>>({});
  const columns = useMemo(
    () => found.map((column) => ({ ...column, width: widths[column.index] ?? column.width })),
    [found, widths],
  );
  const onWidth = useCallback((column: number, width: number): void => {
    setWidths((before) => ({ ...before, [column]: Math.min(WIDEST, Math.max(NARROWEST, width)) }));
  }, []);
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
      <Head columns={columns} sort={sort} onSort={onSort} onWidth={onWidth} />
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
  onWidth,
}: {
  readonly columns: readonly ResultColumn[];
  readonly sort: Sort | null;
  readonly onSort: (column: number) => void;
  readonly onWidth: (column: number, width: number) => void;
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
              <Edge column={column} onWidth={onWidth} />
            </div>
          );
        })}
      </div>
    </div>
  );
});

/** The right edge of a column, drawn by mouse or moved by the arrow keys. */
function Edge({
  column: { name, index, width },
  onWidth,
}: {
  readonly column: ResultColumn;
  readonly onWidth: (column: number, width: number) => void;
}): ReactNode {
  const { t } = useMessages();
  const drag = (start: PointerEvent<HTMLElement>): void => {
    start.preventDefault();
    const edge = start.currentTarget;
    edge.setPointerCapture(start.pointerId);
    edge.onpointermove = ({ clientX }) => onWidth(index, width + clientX - start.clientX);
    edge.onpointerup = () => (edge.onpointermove = null);
  };
  const move = ({ key }: KeyboardEvent): void => {
    if (key === 'ArrowLeft') onWidth(index, width - STEP);
    if (key === 'ArrowRight') onWidth(index, width + STEP);
  };
  return (
    <div
      className="edge"
      role="separator"
      aria-orientation="vertical"
      aria-label={t('query.width', { name })}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={move}
    />
  );
}

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
  const ehr = ehrColumn(columns);
  return (
    <div role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${start}px)` }}>
      {row !== undefined &&
        columns.map((column) => <Cell key={column.index} row={row} column={column} ehr={ehr} />)}
    </div>
  );
});

function Cell({
  row,
  column,
  ehr,
}: {
  readonly row: readonly Json[];
  readonly column: ResultColumn;
  readonly ehr: ResultColumn | undefined;
}): ReactNode {
  const reader = useMessages();
  const value = row[column.index] ?? null;
  const { text, stored = text } = shownText(value, column.kind, reader);
  const target = targetOf(row, column, ehr);
  return (
    // A time as it is stored; a text that is cut, whole.
    <div role="cell" title={stored} {...cellStyle(column)}>
      {value === null && <span className="null">NULL</span>}
      {target === null ? (
        text
      ) : (
        <ViewLink
          size="sm"
          view={
            target.uid === undefined ? patientView(target.ehrId) : compositionView(target.ehrId, target.uid)
          }
        >
          {text}
        </ViewLink>
      )}
    </div>
  );
}

function cellStyle({ kind, width }: ResultColumn): { className: string; style: { width: number } } {
  const className = kind === 'number' ? 'end number' : kind === 'object' ? 'number' : '';
  return { className, style: { width } };
}
