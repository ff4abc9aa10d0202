/** What a span is marked with: names of OpenTelemetry's semantic conventions. Never ids, parameters or content. */
type Marks = Readonly<Record<string, string | number>>;

/** Work that is being traced. */
export interface OpenSpan {
  /** 32 hexadecimal digits, as log lines name it. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  mark(marks: Marks): void;
  rename(name: string): void;
  /** `failure`: a class of error, `error.type` of the conventions; null: it went well. */
  end(failure: string | null): void;
}

/** Where a request says that its trace began: W3C Trace Context. */
interface TraceHeaders {
  /** Empty: a trace begins here. */
  readonly traceparent: string;
  readonly tracestate: string;
}

/** Makes spans and sends them. */
export interface Tracer {
  /** A request that came in. */
  server(name: string, headers: TraceHeaders): OpenSpan;
  /** A command that goes out. */
  client(name: string, parent: OpenSpan, marks: Marks): OpenSpan;
  /** Sends what has not been sent. */
  close(): Promise<void>;
}

/** What the traces of a process say of it, and who hears of traces that cannot be sent. */
export interface TracerParts {
  readonly version: string;
  /** Tells the processes of one service apart. */
  readonly instance: string;
  readonly onFailure: (error: unknown) => void;
}
