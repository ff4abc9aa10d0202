// `npm run check:openapi`, which also keeps the linter from reporting its use to its makers: writes the OpenAPI document of a server with everything switched on and lints it, unless it is the one that was fine the last time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../routes/http/openapi-document.js';
import { everyOperation } from '../src/operation-table.js';
import { toolProgram } from './tools.js';

const FOLDER = 'node_modules/.cache/everchart';
const [FILE, FINE] = [`${FOLDER}/openapi.json`, `${FOLDER}/openapi-fine`];

const document = JSON.stringify(openApiDocument(everyOperation().groups, 'http://127.0.0.1:8080'));
const linted = document + readFileSync('redocly.yaml', 'utf8');
if (!existsSync(FINE) || readFileSync(FINE, 'utf8') !== linted) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FILE, document);
  const { status } = spawnSync(
    toolProgram('redocly'),
    ['lint', FILE, '--format', 'stylish', '--max-problems', '500'],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(FINE, linted);
}
