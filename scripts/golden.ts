import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { GOLDEN, goldenFiles } from '../test/support/aql/golden/files.js';

/** `npm run golden`: writes anew what the AQL cases and the public templates are compiled to. Review the difference as code. */
rmSync(GOLDEN, { recursive: true, force: true });
for (const [name, text] of goldenFiles()) {
  mkdirSync(dirname(`${GOLDEN}/${name}`), { recursive: true });
  writeFileSync(`${GOLDEN}/${name}`, text);
}
