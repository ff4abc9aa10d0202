import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { createApp, readyProcess } from '../../../src/app.js';
import { loadConfig, type Environment } from '../../../src/settings/config.js';
import { createLogger } from '../../../src/logger.js';
import { useDatabase } from '../../support/database.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';

useDatabase();

const EHRS = '/rest/openehr/v1/query/aql?q=SELECT%20e%20FROM%20EHR%20e';
const lines: string[] = [];
const servers: Server[] = [];

afterEach(() => {
  lines.length = 0;
  for (const server of servers.splice(0)) server.close();
});

/** A server on 127.0.0.1 whose log lines are kept. */
function logged(env: Environment = {}): Server {
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  const settings = loadConfig({ JWT_SECRET: TEST_JWT_SECRET, ...env });
  const handle = createApp(settings, log).callback();
  const server = createServer((req, res) => void handle(req, res)).listen(0, '127.0.0.1');
  servers.push(server);
  return server;
}
const logLine = (): Record<string, unknown> => JSON.parse(lines.at(-1)!) as Record<string, unknown>;

describe('the log line of a request', () => {
  it('is no error of a readiness probe that is answered 503, as every few seconds while a server starts', async () => {
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    const process = readyProcess();
    process.state.indexesBuilt = false;
    const handle = createApp(loadConfig({}), log, process).callback();
    const { status } = await request(
      (req: IncomingMessage, res: ServerResponse) => void handle(req, res),
    ).get('/management/health/readiness');
    expect([status, logLine().level]).toEqual([503, log.levels.values.info]);
  });

  it("holds the server's own id, which is answered, and the client's beside it", async () => {
    const app = logged();
    const { headers } = await request(app).get('/rest/status').set('X-Request-Id', 'trace-1.a');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(logLine()).toMatchObject({
      request_id: headers['x-request-id'],
      client_request_id: 'trace-1.a',
      address: '127.0.0.1',
    });
  });

  it('holds no malformed id of a client', async () => {
    await request(logged()).get('/rest/status').set('X-Request-Id', 'a b<script>');
    expect(logLine()).not.toHaveProperty('client_request_id');
  });

  it.each([
    ['no proxy is trusted', '', '203.0.113.9', '127.0.0.1'],
    ['the proxy is trusted', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the client adds addresses itself', '127.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    [
      'two proxies stand before the server',
      '127.0.0.1,10.0.0.0/8',
      '1.1.1.1, 203.0.113.9, 10.1.2.3',
      '203.0.113.9',
    ],
    ['the proxy writes the port too', '127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['the client has an IPv6 address', '127.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['IPv4 is written as IPv6', '127.0.0.1,10.0.0.0/8', '203.0.113.9, ::ffff:10.1.2.3', '203.0.113.9'],
    ['an entry is no address', '127.0.0.1', '203.0.113.9, unknown', '127.0.0.1'],
    ['all are trusted', '127.0.0.1,10.0.0.0/8', '10.0.0.7, 10.0.0.8', '10.0.0.7'],
    ['the header is missing', '127.0.0.1', '', '127.0.0.1'],
  ])('holds the address of the client when %s', async (_, trusted, forwarded, address) => {
    const call = request(logged({ TRUSTED_PROXIES: trusted })).get('/rest/status');
    await (forwarded === '' ? call : call.set('X-Forwarded-For', forwarded));
    expect(logLine().address).toBe(address);
  });

  it('is one line in plain ASCII controls whatever a token says', async () => {
    const name = 'ada\r\n{"level":30}\u0000\u001b[31m\u007f\u009b2J\u2028\u2029\u202e';
    const token = jwt.sign(
      { sub: 'u-1', azp: 'app', preferred_username: name, roles: ['USER'] },
      TEST_JWT_SECRET,
      {
        expiresIn: 60,
      },
    );
    const call = request(logged({ AUTH: 'jwt' })).get(EHRS);
    await call.set('Authorization', `Bearer ${token}`).expect(200);
    const [line] = lines;
    expect(lines).toHaveLength(1);
    expect(line!.endsWith('}\n')).toBe(true);
    expect(line!.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028-\u202e]/u);
    expect(logLine().user).toBe(name);
  });
});
