/** Of a table without a link or a button in it: it takes the focus, so that keys scroll it where it is wider than the screen. */
export function scrolledByKeys(label: string) {
  return { viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } } as const;
}
