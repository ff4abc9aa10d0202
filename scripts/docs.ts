import { writeFileSync } from 'node:fs';
import { COLLECTION_FILE, collectionText } from './pages/collection.js';
import { configurationPage } from './pages/configuration-page.js';
import { envExample } from './pages/env-example.js';
import { limitsPage } from './pages/limits-page.js';

/** `npm run docs`: writes anew what is generated from the settings, the limits and the table of operations. */
const FILES = {
  '.env.example': envExample(),
  'docs/configuration.md': configurationPage(),
  'docs/limits.md': limitsPage(),
  [COLLECTION_FILE]: collectionText(),
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(new URL(`../${name}`, import.meta.url), text);
