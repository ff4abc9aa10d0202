import type { CdrError } from './error.js';

/** What is asked for, by its code of HL7, and the reason that the audit and the patient read. */
export interface Purpose {
  readonly code: 'BTG' | 'ETREAT';
  readonly reason: string;
}

/** How to reach a server, and how to get through to it. */
export interface CdrOptions {
  /** Origin with the base path: `http://127.0.0.1:8080`, `https://cdr.example.org/ehrbase`; '' in a page of the server. */
  readonly url: string;
  /**
   * A bearer token, or what gives one: asked before each request, so keep it there while it is valid. After a 401 it is
   * asked once more with `refresh`.
   */
  readonly token?: string | ((options: { refresh: boolean }) => string | Promise<string>);
  /** For servers with Basic authentication. */
  readonly basic?: { readonly user: string; readonly password: string };
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * That all that is asked is an emergency, and why: `ETREAT` emergency treatment, `BTG` break the glass. Needs the permission
   * `emergency`; each request is recorded with the reason. Not of EHRbase.
   */
  readonly purpose?: Purpose;
  /** Times that a request is repeated which can be: 4 unless given, 0 never. */
  readonly retries?: number;
  /** Milliseconds that one try may take until its answer begins; without, as long as the server lets it. */
  readonly timeoutMs?: number;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Told of each try of a request, for logs, metrics and traces. */
  readonly hooks?: Hooks;
}

/** One try of a request: the same object before and after it. */
export interface Attempt {
  readonly method: string;
  /** With its query, which may name a patient. */
  readonly url: string;
  /** 1 for the first try, 2 for the first repetition. A second try with a new token has the number of the first. */
  readonly number: number;
  /** Without who asks. What is set here before the try is sent: `headers.set('traceparent', …)`. */
  readonly headers: Headers;
}

/** What became of a try. */
export interface Outcome {
  /** 0 when no answer came. */
  readonly status: number;
  /** Until the answer began. */
  readonly durationMs: number;
  /** Finds the request in the log and the audit of the server. */
  readonly requestId: string | undefined;
  /** Instead of an answer. */
  readonly error?: CdrError;
}

/** What they throw is ignored: no call fails for its log. */
export interface Hooks {
  readonly before?: (attempt: Attempt) => void | Promise<void>;
  readonly after?: (attempt: Attempt, outcome: Outcome) => void;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, waiting times and streams included. */
  readonly signal?: AbortSignal | undefined;
}

/** What every call takes that commits something. */
export interface CommitOptions extends CallOptions {
  /** Who commits and why: `{ 'committer.name': 'Ada Moe', 'description.value': 'corrected' }`, keys of the REST contract. */
  readonly audit?: Readonly<Record<string, string>> | undefined;
  /** 532 complete unless given, 553 incomplete, 800 inactive, 801 abandoned. */
  readonly lifecycle?: '532' | '553' | '800' | '801' | undefined;
  /**
   * Made for each call unless given. Give your own to make a call safe that your program may repeat after a crash; an update by a
   * function takes none.
   */
  readonly idempotencyKey?: string | undefined;
}
