import type { ReactNode } from 'react';

const PATHS = {
  overview: 'M4 13h4l2-6 4 11 2-5h4',
  patients: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c0-4 3.6-6 8-6s8 2 8 6',
  templates: 'M5 4h9l5 5v11H5V4Zm9 0v5h5M9 13h6M9 17h6',
  query: 'M5 7l5 5-5 5M12 18h7',
  administration:
    'M4 7h10m4 0h2M4 17h2m4 0h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5',
  copy: 'M9 9h11v11H9V9Zm-4 6H4V4h11v1',
  calendar: 'M4 6h16v14H4V6Zm0 5h16M8 3v4m8-4v4',
  done: 'M5 12l5 5 9-10',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c.5-3 3-5 7-5s6.500 2 7 5',
  close: 'M6 6l12 12M18 6 6 18',
} as const;

/** Name of an icon. */
export type IconName = keyof typeof PATHS;

/** A line drawing beside a word that says the same: nothing to a screen reader. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
