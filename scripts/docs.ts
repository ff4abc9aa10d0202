import { readFileSync, writeFileSync } from 'node:fs';
import { COLLECTION_FILE, collectionText } from './pages/collection.js';
import { configurationPage } from './pages/configuration-page.js';
import { dashboardOf } from './pages/dashboard.js';
import { envExample } from './pages/env-example.js';
import { limitsPage } from './pages/limits-page.js';

/** `npm run docs`: writes anew what is generated from settings, limits, and the tables of operations and metrics. */
const at = (name: string): URL => new URL(`../${name}`, import.meta.url);
const FILES = {
  '.env.example': envExample(),
  'docs/configuration.md': configurationPage(),
  'docs/limits.md': limitsPage(),
  [COLLECTION_FILE]: collectionText(),
  'deploy/grafana-dashboard.json': dashboardOf(readFileSync(at('docs/operations.md'), 'utf8')),
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(at(name), text);
