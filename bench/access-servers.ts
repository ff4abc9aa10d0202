import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import mongoose from 'mongoose';
import { configFromEnvironment } from '../src/settings/config.js';
import { createApp } from '../src/app.js';
import { createLogger } from '../src/logger.js';
import { startServer } from '../src/process/start.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { readPolicies } from '../policy/read-policy.js';
import { templateText } from '../cli/demo/patient.js';
import type { NamedPolicy } from './access-policies.js';
import { ASKS } from './access-policies.js';
import { loadClient, type Answer, type Send } from './load-client.js';

const SECRET = 'a-secret-of-the-bench-with-more-than-32-bytes';
const TEMPLATES = ['ehrbase_blood_pressure_simple.de.v0', 'Corona_Anamnese'] as const;
/** The openEHR base path. */
export const V1 = '/rest/openehr/v1';

/** Three applications on one database in one process, so that what the machine does meets them alike. */
export interface AccessServers {
  /** Policies are enforced. */
  readonly enforced: Send;
  /** There are none, and reads are recorded too. */
  readonly recorded: Send;
  /** There are none, and reads leave no record. */
  readonly open: Send;
  /** As an administrator, to make what is there before there are policies. */
  readonly admin: Send;
}

/** Runs `work` on servers with a temporary database, in which the templates are. */
export async function withAccessServers(work: (servers: AccessServers) => Promise<void>): Promise<void> {
  const environment = {
    ...{ EMBEDDED_DATA_DIR: 'temporary', PORT: '0', LOG_LEVEL: 'error', ADMIN_API_ACTIVE: 'true' },
    ...{ AUTH: 'jwt', JWT_SECRET: SECRET, RATE_LIMIT_PER_MINUTE: '0', SEAL_INTERVAL_MS: '0' },
    ROLE_PERMISSIONS: `ADMIN=*;${ASKS}=read,write`,
  };
  const settings = configFromEnvironment({ ...environment, ACCESS_MODE: 'enforce' });
  const log = createLogger('error');
  const server = await startServer(settings, log);
  const off = configFromEnvironment({ ...environment, ACCESS_MODE: 'off' });
  // All three as bare as each other: what a whole server has around them is not what is measured.
  const apps = [settings, { ...off, auditReads: true }, { ...off, auditReads: false }];
  const listeners = await Promise.all(apps.map((each) => listening(createApp(each, log).callback())));
  const clients = [
    ...listeners.map((each) => loadClient(urlOf(each), token([ASKS], 'ada'))),
    loadClient(server.url, token(['ADMIN'], 'root')),
  ];
  const [first, second, third, last] = clients.map(({ send }) => send);
  try {
    const admin = required(last);
    for (const name of TEMPLATES)
      await admin('POST', `${V1}/definition/template/adl1.4`, templateText(name), 'application/xml');
    await work({
      ...{ enforced: required(first), recorded: required(second), open: required(third), admin },
    });
  } finally {
    for (const { close } of clients) close();
    for (const each of listeners) each.close();
    await server.close();
  }
}

function token(roles: readonly string[], subject: string): string {
  return jwt.sign({ preferred_username: subject, roles }, SECRET, { subject, expiresIn: 36_000 });
}

async function listening(handle: ReturnType<ReturnType<typeof createApp>['callback']>): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a client is missing');
  return value;
}

/** The answer, which must have this status. @throws Error for another one */
export async function answered(sent: Promise<Answer>, ...statuses: readonly number[]): Promise<Answer> {
  const answer = await sent;
  if (!statuses.includes(answer.status)) throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer;
}

/** Puts these policies in place of those that there are, as the server stores them but without their history. */
export async function putPolicies(policies: readonly NamedPolicy[]): Promise<void> {
  const read = await readPolicies(policies.map(([id, policy]) => ({ id, policy })));
  const docs = read.map((each, index) => {
    const [id = '', policy = ''] = policies[index] ?? [];
    if (each.policy === null) throw new Error(`${id}: ${JSON.stringify(each.findings)}`);
    return { _id: id, version: 1, policy, json: JSON.stringify(each.json), time: new Date(), by: 'bench' };
  });
  const stored = mongoose.connection.collection<{ _id: string }>(COLLECTIONS.policies);
  await stored.deleteMany({});
  if (docs.length > 0) await stored.insertMany(docs);
  const settings = mongoose.connection.collection<{ _id: string; seq: number }>(COLLECTIONS.settings);
  await settings.updateOne({ _id: 'policies' }, { $inc: { seq: 1 } }, { upsert: true });
}
