import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';

interface Mark {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Mark[];
  readonly status: { readonly code?: number };
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Mark[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** A collector that keeps what it is sent. */
class Collector {
  readonly spans: Span[] = [];
  readonly resources: Record<string, string | number | undefined>[] = [];
  readonly paths = new Set<string>();
  readonly keys = new Set<string | undefined>();
  readonly #server: Server;
  url = '';

  constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        this.paths.add(request.url ?? '');
        this.keys.add(request.headers['x-key']?.toString());
        const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as Sent;
        for (const { resource, scopeSpans } of resourceSpans) {
          this.resources.push(marksOf(resource));
          this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
        }
        response.setHeader('Content-Type', 'application/json').end('{}');
      });
    });
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function marksOf({ attributes }: { readonly attributes: readonly Mark[] }) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}

const started = (env: Record<string, string>): Promise<ServerProcess> =>
  startServerProcess({ MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName(), ...env });

afterAll(async () => {
  await mongoose.connect(testDatabaseUri(), { dbName: testDatabaseName() });
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SECRET = 'Ottilie';
const EHR_ID = randomUUID();

describe('traces', () => {
  const collector = new Collector();
  let lines: Record<string, unknown>[] = [];
  let status = 0;

  beforeAll(async () => {
    await collector.open();
    const server = await started({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=opened',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      SLOW_QUERY_MS: '1',
    });
    const send = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${server.url}/rest/openehr/v1${path}`, init);
    await fetch(`${server.url}/management/health/readiness`);
    const made = await send(`/ehr/${EHR_ID}`, {
      method: 'PUT',
      headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' },
    });
    ({ status } = made);
    await send('/ehr', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
    const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = '${SECRET}'`;
    await send('/query/aql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ q }),
    });
    expect(await server.stop()).toBe(0);
    lines = server.said.flatMap((line) =>
      line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [],
    );
  });
  afterAll(() => {
    collector.close();
  });

  const spanOf = (name: string): Span => collector.spans.find((span) => span.name === name)!;
  const PUT = 'PUT /rest/openehr/v1/ehr/{ehr_id}';

  it('go on with the trace of the client, named by method and pattern', () => {
    expect(status).toBe(201);
    const span = spanOf(PUT);
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2 });
    expect(marksOf(span)).toMatchObject({
      'http.request.method': 'PUT',
      'http.route': '/rest/openehr/v1/ehr/{ehr_id}',
      'http.response.status_code': 201,
    });
  });

  it('hold the commands that a request sent to the database', () => {
    const span = spanOf(PUT);
    const commands = collector.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      expect(command).toMatchObject({ traceId: TRACE, kind: 3 });
      expect(marksOf(command)).toMatchObject({ 'db.system.name': 'mongodb' });
    }
    expect(commands.map(({ name }) => name)).toContain('commitTransaction');
    const find = commands.find(({ name }) => name.startsWith('find '))!;
    expect(marksOf(find)).toMatchObject({
      'db.namespace': testDatabaseName(),
      'db.collection.name': find.name.slice('find '.length),
    });
  });

  it('begin with the request where nobody says otherwise, and are not sent where the client says so', () => {
    const query = spanOf('POST /rest/openehr/v1/query/aql');
    expect(query.parentSpanId ?? '').toBe('');
    expect(query.traceId).not.toBe(TRACE);
    expect(marksOf(query)).toMatchObject({ 'db.query.text': expect.stringContaining('= ?') });
    expect(collector.spans.map(({ name }) => name)).not.toContain('GET /rest/openehr/v1/ehr');
  });

  it('tell whose they are, at the endpoint and with the headers of the variables', () => {
    expect([...collector.paths]).toEqual(['/v1/traces']);
    expect([...collector.keys]).toEqual(['opened']);
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'everchart',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'deployment.environment': 'test',
    });
  });

  it('hold no id of a patient, no value, and none of probes', () => {
    const sent = JSON.stringify(collector.spans);
    for (const text of [EHR_ID, SECRET, '/management']) expect(sent).not.toContain(text);
  });

  it('are named in the lines of the log', () => {
    const span = spanOf(PUT);
    const line = lines.find(({ method }) => method === 'PUT');
    expect(line).toMatchObject({ trace_id: TRACE, span_id: span.spanId });
    const slow = lines.find(({ msg }) => msg === 'slow query');
    expect(slow).toMatchObject({ trace_id: spanOf('POST /rest/openehr/v1/query/aql').traceId });
    expect(lines.find(({ msg }) => String(msg).startsWith('listening'))).not.toHaveProperty('trace_id');
  });
});

describe('a server that nobody gave an endpoint', () => {
  it('takes no trace', async () => {
    const server = await started({});
    await fetch(`${server.url}/rest/openehr/v1/ehr/${randomUUID()}`, {
      headers: { traceparent: `00-${TRACE}-${PARENT}-01` },
    });
    await server.stop();
    expect(server.said.filter((line) => line.includes('trace_id'))).toEqual([]);
  });
});

describe('a server whose collector is away', () => {
  it('says so once, and answers and stops all the same', async () => {
    const server = await started({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_BSP_EXPORT_TIMEOUT: '200',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    for (let i = 0; i < 3; i++)
      expect((await fetch(`${server.url}/rest/openehr/v1/ehr/${randomUUID()}`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
    expect(server.said.filter((line) => line.includes('traces could not be sent'))).toHaveLength(1);
  });
});

describe('values that cannot be used', () => {
  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which is not spoken here',
    ],
  ])('end the start: %j', async (env, said) => {
    await expect(started(env as Record<string, string>)).rejects.toThrow(said);
  });
});
