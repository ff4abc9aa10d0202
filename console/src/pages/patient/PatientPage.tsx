import type { ReactNode } from 'react';

/** To come. */
export function PatientPage(): ReactNode {
  return null;
}
