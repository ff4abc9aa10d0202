import type { ReactNode } from 'react';

/** To come. */
export function TemplatesPage(): ReactNode {
  return null;
}
