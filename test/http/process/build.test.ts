import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from '@jest/globals';
import { arraysOf } from '../../support/large-bodies.js';

const root = new URL('../../../', import.meta.url);
const built = new URL('dist/src/everchart.mjs', root);
const isBuilt = existsSync(built) && existsSync(new URL('dist/cli/cli.js', root));
// Building takes most of a minute: .ci/run builds before it tests.
const whenBuilt = isBuilt ? it : it.skip;

it('is a script of package.json', () => {
  expect(readFileSync(new URL('package.json', root), 'utf8')).toContain('"build": "node scripts/build.mjs"');
});

whenBuilt('the build in dist/ serves, wherever it is started from', async () => {
  const child = spawn(process.execPath, [built.pathname, 'start'], {
    cwd: '/',
    env: { ...process.env, NODE_OPTIONS: '', PORT: '0', MONGODB_URI: '', EMBEDDED_DATA_DIR: 'temporary' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = /listening on (http:[^"\s]+)/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  const created = await fetch(`${url}/rest/openehr/v1/ehr`, { method: 'POST' });
  expect(created.status).toBe(201);
  expect((await fetch(`${url}/swagger-ui.html`)).status).toBe(200);
  const large = await fetch(`${url}/rest/openehr/v1/ehr`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: arraysOf(250_001),
  });
  expect(large.status).toBe(413);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
