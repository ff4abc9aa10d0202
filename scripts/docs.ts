import { writeFileSync } from 'node:fs';
import { configurationPage } from './pages/configuration-page.js';
import { envExample } from './pages/env-example.js';
import { limitsPage } from './pages/limits-page.js';

/** `npm run docs`: writes anew what is generated from the settings and limits. */
const FILES = {
  '.env.example': envExample(),
  'docs/configuration.md': configurationPage(),
  'docs/limits.md': limitsPage(),
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(new URL(`../${name}`, import.meta.url), text);
