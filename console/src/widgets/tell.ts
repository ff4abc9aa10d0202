/** Word of what was done, with what takes it back. */
export interface Toast {
  readonly text: string;
  readonly undo?: () => Promise<unknown>;
}

/** How long it stays. Milliseconds. */
const SHOWN_MS = 8_000;

let shown: Toast | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
const LISTENERS = new Set<() => void>();

/** Says that something is done, to readers of the screen too; `undo` is offered as long as it is shown. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  show({ text, ...(undo !== undefined && { undo }) });
}

function show(toast: Toast | null): void {
  clearTimeout(timer);
  shown = toast;
  if (toast !== null) timer = setTimeout(() => show(null), SHOWN_MS);
  for (const listener of LISTENERS) listener();
}

/** Told of each change of what is said. */
export const onToast = (listener: () => void): (() => void) => {
  LISTENERS.add(listener);
  return () => LISTENERS.delete(listener);
};

/** What is said now; null: nothing. */
export function toastNow(): Toast | null {
  return shown;
}
