// `npm run check:openapi`, which also keeps the linter from reporting its use to its makers: writes the OpenAPI document of a server with everything switched on and lints it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../routes/http/openapi/openapi-document.js';
import { everyOperation } from '../src/every-operation.js';

const FILE = 'node_modules/.cache/everchart/openapi.json';

mkdirSync('node_modules/.cache/everchart', { recursive: true });
writeFileSync(FILE, JSON.stringify(openApiDocument(everyOperation().groups, 'http://127.0.0.1:8080')));
const { status } = spawnSync('redocly', ['lint', FILE, '--format', 'stylish'], { stdio: 'inherit' });
process.exit(status ?? 1);
