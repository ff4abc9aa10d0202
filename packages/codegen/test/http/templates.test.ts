import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runCli } from '../../../../cli/cli.js';
import { templateModule } from '../../src/main.js';
import { typeName } from '../../src/names.js';
import { Cdr, type Ehr } from '../../../client/src/main.js';
import { testServer } from '../../../../test/support/app.js';
import { useDatabase } from '../../../../test/support/database.js';
import { fixtureText, templateNames } from '../../../../test/support/fixture.js';
import { testSettings } from '../../../../test/support/settings.js';
import { publicTemplate } from '../../../../test/support/openehr/templates.js';

const folder = mkdtempSync(join(tmpdir(), 'codegen-http-'));
let server: Server;
let cdr: Cdr;
let ehr: Ehr;

useDatabase();
beforeAll(async () => {
  // The public template cardinality_of_section has no composition that its container cardinality lets pass.
  server = await testServer(testSettings({ checkContainerCardinality: false }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cdr = new Cdr({ url });
  for (const name of templateNames()) await cdr.templates.upload(fixtureText(`opt/${name}.opt`));
  ehr = await cdr.ehr.create();
  expect(await runCli(['codegen', 'templates', '--url', url, '-o', folder])).toBe(0);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

type Make = (data: unknown, ctx?: object) => Record<string, unknown>;

it.each(templateNames())(
  'what the module of %s makes is taken, in each format, and read back',
  async (name) => {
    const template = publicTemplate(name);
    const type = typeName(template.templateId);
    const file = join(folder, templateModule(template).fileName);
    const module = (await import(file)) as Record<
      `${'read' | 'flat' | 'structured' | 'canonical'}${string}`,
      Make
    >;
    const example = await cdr.templates.example(template.templateId, { detail: 'complete' });
    const data = module[`read${type}`]!(example);
    const ctx = { language: template.defaultLanguage, territory: 'DE', composer_name: 'Ada Moe' };
    const options = { template: template.templateId };
    const { uid } = await ehr.compositions.commit(module[`canonical${type}`]!(data));
    const stored = (await ehr.compositions.get(uid))!.content;
    expect(module[`read${type}`]!(stored)).toEqual(data);
    // FLAT has no key for a SECTION without content, which this template asks for.
    if (name === 'cardinality_of_section') return;
    const flat = module[`flat${type}`]!(data, ctx) as Record<string, string>;
    await ehr.compositions.commit(flat, { ...options, format: 'FLAT' });
    await ehr.compositions.commit(module[`structured${type}`]!(data), { ...options, format: 'STRUCTURED' });
  },
);
