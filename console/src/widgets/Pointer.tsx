import { Tooltip } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** What follows the pointer, in a file that is loaded after the first look. */
export function Pointer({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactElement;
}): ReactNode {
  return <Tooltip label={label}>{children}</Tooltip>;
}
