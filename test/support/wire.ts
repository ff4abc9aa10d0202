import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import type { Server } from 'node:http';

/** A request as a client's library writes it: its headers in their order and case, without Host and Content-Length. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Buffer;
}

/** An answer, its header names in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Sends a recorded request byte for byte; `Host` and `Content-Length` are those of the moment. */
export async function replay(
  server: Server,
  { method, path, headers = [], body }: Recorded,
): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const bytes = body === undefined ? null : Buffer.from(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bytes === null ? [] : [`Content-Length: ${bytes.length}`]),
    'Connection: close',
  ];
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (bytes !== null) socket.write(bytes);
  await once(socket, 'end');
  socket.destroy();
  return parsed(Buffer.concat(chunks));
}

function parsed(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.split(': ')[0]!.toLowerCase(), line.replace(/^[^:]*: /, '')]),
  );
  const rest = bytes.subarray(end + 4);
  const text = headers.get('transfer-encoding') === 'chunked' ? dechunked(rest) : rest.toString('utf8');
  return { status: Number(statusLine.split(' ')[1]), headers, text };
}

function dechunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
