import type { ReactNode } from 'react';

/** To come. */
export function QueryPage(): ReactNode {
  return null;
}
