import type { ReactNode } from 'react';

/** To come. */
export function CompositionPage(): ReactNode {
  return null;
}
