import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openDoors, type Doors } from '../../src/doors.js';
import { createLogger } from '../../src/logger.js';
import { handlerOf } from '../support/app.js';
import { useDatabase } from '../support/database.js';
import { testSettings } from '../support/settings.js';
import { bearer, WITH_ADMIN } from '../support/tokens.js';

useDatabase();

const MIB = 1024 * 1024;
const settings = testSettings({
  ...WITH_ADMIN,
  auth: 'jwt',
  port: 0,
  bodyBytes: { process: 4 * MIB, user: 2 * MIB, address: 3 * MIB },
  receiveTimeoutMs: 60_000,
  maxConnections: 30,
});
const sockets: Socket[] = [];
let doors: Doors;
let port = 0;

beforeAll(async () => {
  ({ doors, port } = await opened(settings));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await pause(50);
});
afterAll(() => {
  doors.abandon();
});

async function opened(of: typeof settings): Promise<{ doors: Doors; port: number }> {
  const handle = handlerOf(of, createLogger('silent'));
  const made = openDoors(of, (request, response) => void handle(request, response));
  await made.listen();
  return { doors: made, port: Number(new URL(made.addresses().url).port) };
}

interface Got {
  readonly text: string;
  readonly isClosed: boolean;
}

interface Sent {
  readonly path?: string;
  readonly user?: string;
  readonly headers?: readonly string[];
  readonly bytes: number;
  readonly at?: number;
  readonly allowHalfOpen?: boolean;
}

/** Sends the beginning of a body and keeps the connection; gives what came back until now. */
async function begun({
  path = '/rest/openehr/v1/ehr',
  user = 'ada',
  headers,
  bytes,
  at = port,
  allowHalfOpen = false,
}: Sent) {
  const socket = connect({ port: at, host: '127.0.0.1', allowHalfOpen });
  sockets.push(socket);
  const got = { text: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (got.text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => (got.isClosed = true));
  await once(socket, 'connect');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${bearer(['USER'], user)}`,
    'Content-Type: application/json',
    ...(headers ?? [`Content-Length: ${16 * MIB}`]),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  if (bytes > 0) socket.write(Buffer.alloc(bytes, ' '));
  return got;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10);
}

const isAnswered = ({ text }: { text: string }): boolean => text.includes('\r\n\r\n');

describe('bodies that do not end', () => {
  it('of one user hold no more than his share, and others are served', async () => {
    const all: Got[] = [];
    for (let i = 0; i < 4; i++) all.push(await begun({ bytes: 0.9 * MIB }));
    await until(() => all.filter(isAnswered).length >= 2);
    const refused = all.filter(isAnswered);
    expect(refused.every(({ text }) => text.startsWith('HTTP/1.1 503 ') && /retry-after: /i.test(text))).toBe(
      true,
    );
    const other = await begun({ user: 'bob', headers: ['Content-Length: 0'], bytes: 0 });
    await until(() => isAnswered(other));
    expect(other.text).toMatch(/^HTTP\/1.1 201 /);
  });

  it('give their share back when their connections end', async () => {
    for (let i = 0; i < 3; i++) await begun({ bytes: 0.6 * MIB });
    await pause(100);
    for (const socket of sockets.splice(0)) socket.destroy();
    await pause(100);
    const last = await begun({ bytes: 1.5 * MIB });
    await pause(200);
    expect(last.text).toBe('');
  });

  it('of several users at one address hold no more than the share of an address', async () => {
    const all: Got[] = [];
    for (let i = 0; i < 4; i++) all.push(await begun({ user: `user ${i}`, bytes: MIB }));
    await until(() => all.some(isAnswered));
    expect(all.filter(isAnswered)[0]!.text).toMatch(/^HTTP\/1.1 503 /);
  });

  it('without a length count as they come, compressed ones as large as they may become', async () => {
    const chunked = await begun({ headers: ['Transfer-Encoding: chunked'], bytes: 0 });
    const socket = sockets.at(-1)!;
    for (let i = 0; i < 3; i++) socket.write(`${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`);
    await until(() => isAnswered(chunked));
    expect(chunked.text).toMatch(/^HTTP\/1.1 503 /);
    const headers = ['Content-Encoding: gzip', 'Content-Length: 100000'];
    const gzipped = await begun({ headers, bytes: 1 });
    await until(() => isAnswered(gzipped));
    expect(gzipped.text).toMatch(/^HTTP\/1.1 503 /);
  });

  it('of queries have a mebibyte', async () => {
    const query = await begun({ path: '/rest/openehr/v1/query/aql', bytes: 0 });
    await until(() => isAnswered(query));
    expect(query.text).toMatch(/^HTTP\/1.1 413 /);
    expect(query.text).toContain(`${MIB} bytes`);
  });
});

describe('the answer to a body that is refused', () => {
  const isRead = async ({ path = '/rest/openehr/v1/definition/template/adl1.4', headers, bytes }: Sent) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const got = { text: '', error: '' };
    socket.on('error', ({ message }) => (got.error = message));
    await once(socket, 'connect');
    const head = (method: string, at: string, more: readonly string[]): string =>
      [`${method} ${at} HTTP/1.1`, 'Host: localhost', `Authorization: ${bearer(['ADMIN'], 'eve')}`, ...more]
        .join('\r\n')
        .concat('\r\n\r\n');
    socket.write(
      head('POST', path, [`Content-Length: ${bytes}`, ...(headers ?? ['Content-Type: application/xml'])]),
    );
    await new Promise((resolve) => socket.write(Buffer.alloc(bytes, ' '), resolve));
    await pause(100);
    socket.write(head('GET', '/rest/openehr/v1/ehr/8849182c-82ad-4088-a07f-48ead4180515', []));
    socket.on('data', (chunk: Buffer) => (got.text += chunk.toString()));
    await until(() => got.error !== '' || got.text.includes('HTTP/1.1 404'));
    return got;
  };

  it.each([
    ['too large by its length', { bytes: 30 * MIB }, 413],
    [
      'too large for what the user may have under way',
      { path: '/rest/openehr/v1/ehr', bytes: 15 * MIB },
      503,
    ],
    [
      'of a charset that nobody reads',
      { bytes: 10 * MIB, headers: ['Content-Type: text/xml; charset=utf-7'] },
      415,
    ],
    [
      'compressed, and larger than there is room',
      {
        path: '/rest/openehr/v1/ehr',
        bytes: 15 * MIB,
        headers: ['Content-Encoding: gzip'],
      },
      503,
    ],
  ])('is read by who first sends all of it, and the connection goes on: %s', async (_, sent, status) => {
    const { text, error } = await isRead(sent);
    expect(error).toBe('');
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('is read by who first sends all of it, and the connection ends with it', async () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const got = { text: '', error: '', isClosed: false };
    socket.on('error', ({ message }) => (got.error = message));
    socket.on('close', () => (got.isClosed = true));
    await once(socket, 'connect');
    const headers = [
      'POST /rest/openehr/v1/definition/template/adl1.4 HTTP/1.1',
      'Host: localhost',
      `Authorization: ${bearer(['ADMIN'], 'eve')}`,
      'Content-Type: application/xml',
      `Content-Length: ${30 * MIB}`,
      'Connection: close',
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n`);
    for (let sent = 0; sent < 30; sent++) {
      await new Promise((resolve) => socket.write(Buffer.alloc(MIB, ' '), resolve));
      await pause(10);
    }
    socket.on('data', (chunk: Buffer) => (got.text += chunk.toString()));
    await until(() => got.isClosed);
    expect(got.error).toBe('');
    expect(got.text).toMatch(/^HTTP\/1.1 413 /);
  });

  it('ends the connection of who does not end', async () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const state = { isClosed: false };
    socket.on('error', () => undefined).on('data', () => undefined);
    socket.on('close', () => (state.isClosed = true));
    socket.write(
      [
        'POST /rest/openehr/v1/ehr HTTP/1.1',
        'Host: localhost',
        `Authorization: ${bearer(['USER'], 'eve')}`,
        'Transfer-Encoding: chunked\r\n\r\n',
      ].join('\r\n'),
    );
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    let sent = 0;
    while (!state.isClosed && sent < 200) {
      const failed = await new Promise<unknown>((resolve) => socket.write(chunk, resolve));
      if (failed) await until(() => state.isClosed);
      else sent += 1;
    }
    expect(state.isClosed).toBe(true);
    expect(sent).toBeLessThan(120);
  });
});

describe('senders that take their time', () => {
  it('are ended', async () => {
    const slow = await opened({ ...settings, receiveTimeoutMs: 1_000 });
    try {
      const sender = await begun({ bytes: 10, at: slow.port });
      await until(() => sender.isClosed);
      expect(sender.text).toMatch(/^HTTP\/1.1 408 /);
    } finally {
      slow.doors.abandon();
    }
  });

  it('are ended where they were refused and the connection ends with the answer, too', async () => {
    const slow = await opened({ ...settings, receiveTimeoutMs: 1_000 });
    try {
      const headers = [`Content-Length: ${16 * MIB}`, 'Connection: close'];
      const path = '/rest/openehr/v1/definition/template/adl1.4';
      const sender = await begun({ path, headers, bytes: 10, at: slow.port, allowHalfOpen: true });
      while (!sender.isClosed) {
        sockets.at(-1)!.write(' ');
        await pause(50);
      }
      expect(sender.text).toMatch(/^HTTP\/1.1 413 /);
    } finally {
      slow.doors.abandon();
    }
  });

  it('are ended before their headers are there, too', async () => {
    const slow = await opened({ ...settings, receiveTimeoutMs: 1_000 });
    try {
      const socket = connect(slow.port, '127.0.0.1');
      sockets.push(socket);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write('GET /rest/openehr/v1 HTTP/1.1\r\nHost: localhost\r\nX-Never');
      await once(socket, 'close');
      expect(text).toMatch(/^HTTP\/1.1 408 /);
    } finally {
      slow.doors.abandon();
    }
  });

  it('have no more connections than MAX_CONNECTIONS', async () => {
    const all: Got[] = [];
    for (let i = 0; i < 40; i++)
      all.push(await begun({ bytes: 0 }).catch(() => ({ text: '', isClosed: true })));
    await until(() => all.filter(({ isClosed }) => isClosed).length >= 10);
    expect(all.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(30);
  });
});
