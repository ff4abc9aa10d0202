/** Whether Enter could mean "on to the next field" here: in a field of one line, not in a text or on a button. */
export function isLine(target: EventTarget): target is HTMLInputElement {
  return target instanceof HTMLInputElement;
}

/** The field after one, in the order in which they are shown; undefined: it is the last. */
export function nextField(field: HTMLInputElement): HTMLElement | undefined {
  const fields = [...(field.form?.querySelectorAll<HTMLElement>('input:not([type=hidden]), textarea') ?? [])];
  return fields[fields.indexOf(field) + 1];
}

/** The first that fits what is typed into an open list, which Enter means where none was gone to; null: no list is open. */
export function firstOption(field: HTMLInputElement): HTMLElement | null {
  const list = field.getAttribute('aria-controls');
  if (list === null || field.value === '') return null;
  const options = document.getElementById(list);
  // What was chosen before is kept.
  if (options?.querySelector('[role=option][aria-selected=true]')) return null;
  return options?.querySelector<HTMLElement>('[role=option]') ?? null;
}
