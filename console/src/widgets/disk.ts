import type { Overview } from '@everchart/client';

type Disk = NonNullable<Overview['database']['disk']>;

/** From where on somebody should look after a disk. */
const FULL_PERCENT = 90;

/** How much of a disk is used. */
export function percentUsed({ used, bytes }: Disk): number {
  return Math.round((used / bytes) * 100);
}

/** Whether it fills up. */
export function isFull(disk: Disk): boolean {
  return percentUsed(disk) >= FULL_PERCENT;
}
