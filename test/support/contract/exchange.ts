/** One request and its answer, as a recording holds it. */
export interface Exchange {
  method: string;
  url: string;
  requestHeaders: Record<string, string>;
  /** The bytes of the body, one character for each (latin1). */
  requestBody: string;
  status: number;
  headers: Record<string, string>;
  /** The text of the answer, decompressed. */
  body: string;
  /** False where the recorded release itself does not answer the same when it is asked again. */
  isRepeatable?: boolean;
}

/** What one test file asked an application in its default settings, in the order of the requests. */
export interface Recording {
  /** In milliseconds since 1970. */
  recordedAt: number;
  exchanges: Exchange[];
}
