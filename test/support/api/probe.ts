import type { RequestListener } from 'node:http';
import type { Context, Next } from 'koa';
import request from 'supertest';

import type { Settings } from '../../../config/settings.js';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { createApp, readyProcess } from '../../../src/app.js';
import { everyOperation } from '../../../src/operation-table.js';
import { createLogger } from '../../../src/logger.js';
import { everythingOn } from '../settings.js';
import { ADMIN } from '../tokens.js';

/** One request to a documented operation. */
export interface Call {
  /** Values of the path's parameters, not encoded. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  readonly settings?: Partial<Settings>;
  /** true: the server is still starting. */
  readonly isStarting?: boolean;
  /** true: as a client without any token. */
  readonly isAnonymous?: boolean;
}

const METHODS = { GET: 'get', PUT: 'put', POST: 'post', DELETE: 'delete', OPTIONS: 'options' } as const;

/** Header that tells the recorder which documented operation a request is meant for. */
const PROBE = 'x-probe-operation';

/** Calls documented operations and notes which statuses they give and which parameters they read. */
export class ApiProbe {
  /** Statuses seen, by operation id. */
  readonly statuses = new Map<string, Set<number>>();
  /** Query and header names that the operation looked at, by operation id. */
  readonly read = new Map<string, Set<string>>();
  readonly #apps = new Map<string, RequestListener>();
  readonly #operations: ReadonlyMap<string, Operation>;

  /** `settings`: of the server, where they are not the default ones. */
  constructor(private readonly settings: Partial<Settings> = {}) {
    const { operations } = everyOperation(everythingOn(settings));
    this.#operations = new Map(
      operations
        .filter(({ isDocumented = true }) => isDocumented)
        .map((operation) => [operation.id, operation]),
    );
  }

  /** The documented operations. */
  get operations(): readonly Operation[] {
    return [...this.#operations.values()];
  }

  /** Sends a request to an operation and notes its status. */
  async call(id: string, call: Call = {}): Promise<request.Response> {
    const operation = this.#operations.get(id);
    if (operation === undefined) throw new Error(`no operation ${id}`);
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(call.params?.[name] ?? ''),
    );
    const sending = request(this.#app(call))[METHODS[operation.method]](`${path}${call.query ?? ''}`);
    sending.set({
      [PROBE]: id,
      ...(call.isAnonymous !== true && { Authorization: ADMIN }),
      ...(operation.request !== undefined && { 'Content-Type': firstType(operation) }),
      ...call.headers,
    });
    const text = typeof call.body === 'object' ? JSON.stringify(call.body) : call.body;
    const response = await (text === undefined ? sending : sending.send(text));
    noteIn(this.statuses, id, response.status);
    return response;
  }

  /** One application for each configuration: building one costs more than the request. */
  #app({ settings = {}, isStarting = false }: Call): RequestListener {
    const key = JSON.stringify([settings, isStarting]);
    const app = this.#apps.get(key) ?? this.#build(settings, isStarting);
    this.#apps.set(key, app);
    return app;
  }

  #build(settings: Partial<Settings>, isStarting: boolean): RequestListener {
    const process = readyProcess();
    if (isStarting) process.state.indexesBuilt = false;
    const app = createApp(everythingOn({ ...this.settings, ...settings }), createLogger('silent'), process);
    app.middleware.unshift((ctx: Context, next: Next) => this.#record(ctx, next));
    const handle = app.callback();
    return (incoming, outgoing) => void handle(incoming, outgoing);
  }

  #record(ctx: Context, next: Next): Promise<void> {
    const id = ctx.get(PROBE);
    const note = (kind: string) => (name: string) => {
      noteIn(this.read, id, `${kind} ${name.toLowerCase()}`);
    };
    const query = watched(ctx.query, note('query'));
    for (const holder of [ctx, ctx.request]) Object.defineProperty(holder, 'query', { get: () => query });
    const headers = watched(ctx.req.headers, note('header'));
    Object.defineProperty(ctx.req, 'headers', { value: headers, configurable: true });
    return next() as Promise<void>;
  }
}

function firstType(operation: Operation): string {
  return (
    {
      xml: 'application/xml',
      compared: 'application/xml',
      query: 'text/plain',
      lines: 'application/x-ndjson',
    }[String(operation.request?.types)] ?? 'application/json'
  );
}

function noteIn<T>(notes: Map<string, Set<T>>, id: string, value: T): void {
  notes.set(id, (notes.get(id) ?? new Set<T>()).add(value));
}

/** The object, telling each name that is asked for. */
function watched<T extends object>(object: T, note: (name: string) => void): T {
  const tell = (name: string | symbol): void => {
    if (typeof name === 'string') note(name);
  };
  return new Proxy(object, {
    get(target, name) {
      tell(name);
      return Reflect.get(target, name) as unknown;
    },
    has(target, name) {
      tell(name);
      return Reflect.has(target, name);
    },
    getOwnPropertyDescriptor(target, name) {
      tell(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
}
