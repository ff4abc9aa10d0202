import type { ReactNode } from 'react';

/** To come. */
export function AdministrationPage(): ReactNode {
  return null;
}
