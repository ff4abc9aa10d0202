// `npm run check:openapi`, which also keeps the linter from reporting its use to its makers: writes the OpenAPI documents of servers with everything switched on, one of each edition of ITS-REST, and lints them, unless they are those that were fine the last time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { ITS_REST_EDITIONS } from '../openehr/base/dialect.js';
import { openApiDocument } from '../routes/http/openapi-document.js';
import { everyOperation, everySetting } from '../src/operation-table.js';
import { toolProgram } from './tools.js';

const FOLDER = 'node_modules/.cache/everchart';
const FINE = `${FOLDER}/openapi-fine`;

const documents = ITS_REST_EDITIONS.map((edition) => {
  const { groups } = everyOperation(everySetting(edition));
  const document = openApiDocument(groups, 'http://127.0.0.1:8080', 'any', edition);
  return { file: `${FOLDER}/openapi-${edition}.json`, text: JSON.stringify(document) };
});
const linted = [...documents.map(({ text }) => text), readFileSync('redocly.yaml', 'utf8')].join('\n');
if (!existsSync(FINE) || readFileSync(FINE, 'utf8') !== linted) {
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, text } of documents) writeFileSync(file, text);
  const files = documents.map(({ file }) => file);
  const args = ['lint', ...files, '--format', 'stylish', '--max-problems', '500'];
  const { status } = spawnSync(toolProgram('redocly'), args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(FINE, linted);
}
