import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { openApiDocument } from '../../../routes/http/openapi/openapi-document.js';
import { everyOperation } from '../../../src/operation-table.js';

/** What somebody would write who makes a client from the document. */
const USE = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

type Schemas = components['schemas'];
const systolic: Schemas['DV_QUANTITY'] = { _type: 'DV_QUANTITY', magnitude: 120, units: 'mm[Hg]' };
// @ts-expect-error: a DV_QUANTITY has units
const wrong: Schemas['DV_QUANTITY'] = { _type: 'DV_QUANTITY', magnitude: 120 };
const element: Schemas['ELEMENT'] = {
  _type: 'ELEMENT',
  archetype_node_id: 'at0004',
  name: { _type: 'DV_TEXT', value: 'Systolic' },
  value: systolic,
};
export async function names(composition: Schemas['COMPOSITION']): Promise<string[]> {
  const api = createClient<paths>({ baseUrl: '' });
  const { data } = await api.POST('/rest/openehr/v1/query/aql', { body: { q: 'SELECT e FROM EHR e' } });
  const entry = composition.content?.[0];
  const origin = entry?._type === 'OBSERVATION' ? entry.data.origin.value : '';
  return [element.name.value, wrong.units, origin, ...(typeof data === 'object' ? data.columns.map(({ name }) => name) : [])];
}
`;

it('the document gives types that compile, and say what is wrong', async () => {
  const document = openApiDocument(everyOperation().groups, 'http://127.0.0.1');
  const types = astToString(await openapiTS(document as unknown as OpenAPI3));
  // Beside node_modules, so that imports resolve.
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const folder = mkdtempSync(join(root, 'node_modules/.cache/openapi-types-'));
  try {
    writeFileSync(join(folder, 'api.ts'), types);
    writeFileSync(join(folder, 'use.ts'), USE);
    const program = ts.createProgram([join(folder, 'use.ts')], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      types: [],
    });
    const found = ts.getPreEmitDiagnostics(program);
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
