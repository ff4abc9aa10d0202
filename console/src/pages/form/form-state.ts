import type { WebTemplate } from '@everchart/client';
import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';
import { placesAbove, withValues, type FlatValue, type FlatValues } from '../../form/values.js';

/** What one form holds while it is open. A field listens to its own key, so that typing redraws that field alone. */
export class FormState {
  #values: FlatValues;
  #saved: FlatValues;
  /** Sent with every try to save it: whose answer was lost is not saved twice. */
  readonly key = randomKey();
  readonly #listeners = new Set<() => void>();
  readonly #listenersAt = new Map<string, Set<() => void>>();

  /** `typed`: what was typed on top of what is saved. */
  constructor(saved: FlatValues, typed = saved) {
    this.#values = typed;
    this.#saved = saved;
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

  /** Told of changes at a place and below it. */
  subscribeAt(place: string, listener: () => void): () => void {
    const listeners = this.#listenersAt.get(place) ?? new Set();
    this.#listenersAt.set(place, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listenersAt.delete(place);
    };
  }

  /** Of thousands of fields those alone are told that a key is about. */
  change(changes: Readonly<Record<string, FlatValue | undefined>>): void {
    this.#values = withValues(this.#values, changes);
    const places = new Set(Object.keys(changes).flatMap(placesAbove));
    for (const place of places) for (const listener of this.#listenersAt.get(place) ?? []) listener();
    for (const listener of this.#listeners) listener();
  }

  replace(values: FlatValues): void {
    this.#values = values;
    for (const listeners of this.#listenersAt.values()) for (const listener of listeners) listener();
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
  /** Whether only what is near the screen is made. */
  readonly isLarge: boolean;
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

/**
 * What is read from the values at a place or below it, read again when one of them changes; it must be a primitive. A place is
 * a key, or what stands in keys before `/` or `|`.
 */
export function useFormValue<T extends FlatValue | null | undefined>(
  place: string,
  read: (values: FlatValues) => T,
): T {
  const { state } = useForm();
  const subscribe = useCallback((listener: () => void) => state.subscribeAt(place, listener), [state, place]);
  return useSyncExternalStore(subscribe, () => read(state.values));
}
