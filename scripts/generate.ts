// `npm run generate`: writes the files that are made from others and kept beside them. A test compares them.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generate/files.js';

for (const [path, text] of await generatedFiles()) {
  writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), text);
  process.stdout.write(`${path}\n`);
}
