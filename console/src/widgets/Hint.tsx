import { lazy, Suspense, type ReactElement, type ReactNode } from 'react';

// What follows the pointer is a tenth of the first page, and is needed by nobody who has not pointed yet.
const Pointer = lazy(() => import('./Pointer.js').then((file) => ({ default: file.Pointer })));

/** Words that stand beside something as long as it is pointed at or has the focus. */
export function Hint({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactElement;
}): ReactNode {
  return (
    <Suspense fallback={children}>
      <Pointer label={label}>{children}</Pointer>
    </Suspense>
  );
}
