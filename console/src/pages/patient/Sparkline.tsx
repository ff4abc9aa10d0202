import type { ReactNode } from 'react';
import { epochOf } from '../../record/values/instant.js';
import type { Trend } from './patient-data.js';

const WIDTH = 200;
const HEIGHT = 44;

/** The course of a trend without axes, the normal range as a band behind it. */
export function Sparkline({ trend, color }: { readonly trend: Trend; readonly color: string }): ReactNode {
  const { points, normal } = trend;
  const values = points.map(({ value }) => value);
  const low = Math.min(...values, normal?.[0] ?? Infinity);
  const high = Math.max(...values, normal?.[1] ?? -Infinity);
  const times = points.map(({ time }) => epochOf(time));
  const first = times[0] ?? 0;
  const span = Math.max(1, (times.at(-1) ?? 0) - first);
  const x = (index: number): number => 3 + (((times[index] ?? first) - first) / span) * (WIDTH - 6);
  const y = (value: number): number =>
    HEIGHT - 4 - ((value - low) / Math.max(1e-9, high - low)) * (HEIGHT - 8);
  const path = values.map(
    (value, index) => `${index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`,
  );
  const last = values.length - 1;
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {normal !== null && (
        <rect
          className="band"
          x={0}
          width={WIDTH}
          y={y(normal[1] ?? high)}
          height={Math.max(0, y(normal[0] ?? low) - y(normal[1] ?? high))}
        />
      )}
      <path d={path.join(' ')} stroke={color} />
      <circle cx={x(last)} cy={y(values[last] ?? 0)} r={3} fill={color} />
    </svg>
  );
}
