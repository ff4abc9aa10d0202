import type { WebTemplate } from '@everchart/client';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { withValues, type FlatValue, type FlatValues } from '../../form/values.js';

/** What one form holds while it is open. A field listens to its own key, so that typing redraws that field alone. */
export class FormState {
  #values: FlatValues;
  #saved: FlatValues;
  /** Sent with every try to save it: whose answer was lost is not saved twice. */
  readonly key = randomKey();
  readonly #listeners = new Set<() => void>();

  constructor(values: FlatValues) {
    this.#values = values;
    this.#saved = values;
  }

  get values(): FlatValues {
    return this.#values;
  }

  /** Whether there is something that would be lost. */
  get isChanged(): boolean {
    return this.#values !== this.#saved;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  change(changes: Readonly<Record<string, FlatValue | undefined>>): void {
    this.replace(withValues(this.#values, changes));
  }

  replace(values: FlatValues): void {
    this.#values = values;
    for (const listener of this.#listeners) listener();
  }

  /** What is there now is on the server. */
  keep(): void {
    this.#saved = this.#values;
  }
}

/** Also where the page is not served securely, and a browser makes no UUIDs. */
function randomKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A form and what the server said of it. */
export interface OpenForm {
  readonly state: FormState;
  readonly template: WebTemplate;
  /** By the place they stand beside. */
  readonly findings: ReadonlyMap<string, readonly string[]>;
}

const FormContext = createContext<OpenForm | null>(null);

/** Gives the form to its fields. */
export const FormProvider = FormContext.Provider;

/** The form that a field belongs to. */
export function useForm(): OpenForm {
  const form = useContext(FormContext);
  if (form === null) throw new TypeError('no FormProvider above');
  return form;
}

/**
 * Whether the node around is there, or has to be: what a part of it asks for is asked only then. A patient without a
 * device needs no serial number of it.
 */
export const IsThere = createContext(true);

/** What is read from the values, read again when they change; it must be a primitive. */
export function useFormValue<T extends FlatValue | null | undefined>(read: (values: FlatValues) => T): T {
  const { state } = useForm();
  return useSyncExternalStore(state.subscribe, () => read(state.values));
}
