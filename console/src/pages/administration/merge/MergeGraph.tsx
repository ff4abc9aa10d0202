import { Text } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import type { MergeDetails } from '@everchart/client';
import { useMessages } from '../../../messages/messages.js';
import { mergeGraph, type GraphNode } from './merge-graph.js';

const COLUMN = 150;
const ROW = 32;
const NODE = 96;
/** More arrows than these are no picture any more: the newest are drawn. */
const MOST = 200;

/** Which EHR went where, as arrows to the right. */
export function MergeGraph({ merges }: { readonly merges: readonly MergeDetails[] }): ReactNode {
  const { t } = useMessages();
  const { nodes, columns, rows } = useMemo(() => mergeGraph(merges.slice(-MOST)), [merges]);
  const places = new Map(nodes.map((node) => [node.ehrId, node]));
  return (
    <>
      <div
        className="merge-graph"
        role="img"
        aria-label={t('merge.graphLabel', { count: merges.length, ehrs: nodes.length })}
      >
        <svg width={columns * COLUMN} height={rows * ROW} aria-hidden="true">
          {nodes.map((node) => (
            <g key={node.ehrId}>
              {node.target !== null && <Arrow from={node} to={places.get(node.target)} />}
              <rect
                x={node.column * COLUMN}
                y={node.row * ROW + 4}
                width={NODE}
                height={ROW - 8}
                rx={4}
                data-lives={node.target === null}
              />
              <text x={node.column * COLUMN + NODE / 2} y={node.row * ROW + ROW / 2 + 4} textAnchor="middle">
                {node.ehrId.slice(0, 8)}
                <title>{node.ehrId}</title>
              </text>
            </g>
          ))}
        </svg>
      </div>
      {merges.length > MOST && (
        <Text size="sm" c="dimmed">
          {t('merge.graphMost', { count: MOST })}
        </Text>
      )}
    </>
  );
}

function Arrow({ from, to }: { readonly from: GraphNode; readonly to: GraphNode | undefined }): ReactNode {
  if (to === undefined) return null;
  const [x1, y1] = [from.column * COLUMN + NODE, from.row * ROW + ROW / 2];
  const [x2, y2] = [to.column * COLUMN, to.row * ROW + ROW / 2];
  const middle = (x1 + x2) / 2;
  return (
    <>
      <path d={`M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2 - 6} ${y2}`} />
      <path className="head" d={`M${x2} ${y2} l-7 -4 v8 Z`} />
    </>
  );
}
