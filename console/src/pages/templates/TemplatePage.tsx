import type { ReactNode } from 'react';

/** To come. */
export function TemplatePage(): ReactNode {
  return null;
}
