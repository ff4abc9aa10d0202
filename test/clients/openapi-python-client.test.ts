import { copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { pythonPrograms } from '../support/clients/toolchains.js';
import { expectWalk, generatedFolder, output, writeDocument } from '../support/clients/walk.js';
import { useDatabase } from '../support/database.js';

const programs = pythonPrograms('tools/python/openapi-python-client.txt');

useDatabase();
const server = useServer(testApp());
const folder = generatedFolder(tmpdir());

(programs === null ? it.skip : it)(
  'openapi-python-client: a package that imports, types of errors and RESULT_SET, and works',
  async () => {
    const bin = programs ?? '';
    const document = await writeDocument(server.url, folder, 'minimal');
    const generated = ['--output-path', join(folder, 'cdr'), '--meta', 'none'];
    await output({
      command: join(bin, 'openapi-python-client'),
      args: ['generate', '--path', document, ...generated],
      cwd: folder,
      // It has what it wrote formatted.
      env: { PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
    });
    copyFileSync(join(import.meta.dirname, 'programs/openapi_python_client.py'), join(folder, 'program.py'));
    await expectWalk(server.url, { command: join(bin, 'python'), args: ['program.py'], cwd: folder });
  },
);
