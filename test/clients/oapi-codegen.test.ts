import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { goProgram } from '../support/clients/toolchains.js';
import { expectWalk, generatedFolder, output, writeDocument } from '../support/clients/walk.js';
import { useDatabase } from '../support/database.js';

const command = goProgram('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', 'v2.8.2');
const MODULE = `module walk

go 1.24

require github.com/oapi-codegen/runtime v1.9.0
`;

useDatabase();
const server = useServer(testApp());
const folder = generatedFolder(tmpdir());

(command === null ? it.skip : it)(
  'oapi-codegen: a package of Go that builds of the whole document, and works',
  async () => {
    const document = await writeDocument(server.url, folder, 'any');
    mkdirSync(join(folder, 'cdr'));
    const generated = ['-generate', 'types,client', '-package', 'cdr', '-o', join(folder, 'cdr/client.go')];
    await output({ command: command ?? '', args: [...generated, document], cwd: folder });
    writeFileSync(join(folder, 'go.mod'), MODULE);
    copyFileSync(join(import.meta.dirname, 'programs/oapi_codegen.go'), join(folder, 'main.go'));
    await output({ command: 'go', args: ['mod', 'tidy'], cwd: folder });
    await output({ command: 'go', args: ['build', '-o', 'walk', '.'], cwd: folder });
    await expectWalk(server.url, { command: join(folder, 'walk'), args: [], cwd: folder });
  },
);
