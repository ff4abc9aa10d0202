import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { openDoors } from '../../../src/doors.js';
import { loadConfig } from '../../../src/settings/config.js';

it('a stop makes the answer of a request under way the last of its connection', async () => {
  let answer = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let finish = (): void => undefined;
  const doors = openDoors(loadConfig({ PORT: '0' }), (_request, response) => {
    finish = () => response.end('done');
    answer();
  });
  await doors.listen();
  const agent = new Agent({ keepAlive: true });
  const sent = get(doors.addresses().url, { agent });
  const received = once(sent, 'response') as Promise<[IncomingMessage]>;
  await begun;
  const closed = doors.close(5_000);
  finish();
  const [response] = await received;
  response.resume();
  expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
  await closed;
  agent.destroy();
});
