import { CdrError } from '@everchart/client';
import type { FlatValues } from './values.js';

/** A form whose content is kept. */
interface Form {
  readonly values: FlatValues;
  readonly isChanged: boolean;
  readonly subscribe: (listener: () => void) => () => void;
}

/** What is known of the draft of a form. `at`: ms since 1970. */
type Kept =
  | { readonly is: 'nowhere' }
  | { readonly is: 'kept'; readonly at: number }
  /** `isForGood`: the user may keep none. */
  | { readonly is: 'refused'; readonly error: Error; readonly isForGood: boolean };

/** How long after a change it is kept, at most. Milliseconds. */
const WAIT_MS = 10_000;

/** Keeps what is typed into a form on the server, from time to time and when it is asked to. */
export class DraftKeeper {
  #kept: Kept = { is: 'nowhere' };
  #values: FlatValues | null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<boolean> = Promise.resolve(true);
  #isEnded = false;
  readonly #listeners = new Set<() => void>();
  readonly #form: Form;
  readonly #put: (values: FlatValues) => Promise<unknown>;

  /** `known`: what the server has of it already; null: nothing. */
  constructor(form: Form, put: (values: FlatValues) => Promise<unknown>, known: FlatValues | null) {
    this.#form = form;
    this.#put = put;
    this.#values = known;
  }

  get kept(): Kept {
    return this.#kept;
  }

  /** Whether the server has a draft of the form. */
  get isThere(): boolean {
    return this.#values !== null;
  }

  /** Whether that draft says what the form says. */
  get isCurrent(): boolean {
    return this.#values === this.#form.values;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Watches the form; gives what ends that. */
  readonly start = (): (() => void) => {
    const stop = this.#form.subscribe(() => {
      this.#timer ??= setTimeout(() => void this.keep(), WAIT_MS);
    });
    return () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      stop();
    };
  };

  /** Keeps what is there now, after what is under way. Whether nothing of it would be lost. */
  readonly keep = (): Promise<boolean> => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#underWay = this.#underWay.then(() => this.#send());
    return this.#underWay;
  };

  /** From now on nothing is kept; what is under way is done when this is. */
  readonly end = async (): Promise<void> => {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#underWay;
  };

  async #send(): Promise<boolean> {
    const { values, isChanged } = this.#form;
    if (this.#isEnded || !isChanged || values === this.#values) return true;
    if (this.#kept.is === 'refused' && this.#kept.isForGood) return false;
    try {
      await this.#put(values);
      this.#values = values;
      this.#set({ is: 'kept', at: Date.now() });
      return values === this.#form.values || (await this.#send());
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const isForGood = error instanceof CdrError && [403, 404, 405].includes(error.status);
      this.#set({ is: 'refused', error, isForGood });
      // Tried again, as the server may be back.
      if (!isForGood) this.#timer ??= setTimeout(() => void this.keep(), WAIT_MS);
      return false;
    }
  }

  #set(kept: Kept): void {
    this.#kept = kept;
    for (const listener of this.#listeners) listener();
  }
}
