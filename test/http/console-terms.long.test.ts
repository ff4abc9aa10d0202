import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const NAME = 'test_all_types.en.v1';
const VALUE_SET = 'http://example.org/ValueSet/findings';
const CONCEPTS = [
  { code: '386661006', display: 'Fever', system: 'http://snomed.info/sct' },
  { code: '49727002', display: 'Cough', system: 'http://snomed.info/sct' },
];

inBrowser('codes of a value set (skipped where no Chromium is installed)', () => {
  let server: Server;
  let expanded = 0;
  // Where it listens is known before the console's server begins.
  const terminology = { serverUrl: '', timeoutMs: 10_000, failOnError: true };
  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      const { searchParams } = new URL(url, 'http://fhir');
      const filter = (searchParams.get('filter') ?? '').toLowerCase();
      const contains = CONCEPTS.filter(({ display }) => display.toLowerCase().includes(filter));
      response.setHeader('Content-Type', 'application/fhir+json');
      if (url.includes('$expand')) expanded += 1;
      const isValid = { resourceType: 'Parameters', parameter: [{ name: 'result', valueBoolean: true }] };
      response.end(JSON.stringify(url.includes('$expand') ? { expansion: { contains } } : isValid));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    terminology.serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const web = useConsole({ terminology });

  const openForm = async () => {
    const client = new Cdr({ url: web.url });
    await client.templates
      .upload(
        fixtureText(`opt/${NAME}.opt`).replace(
          'terminology:SNOMED-CT',
          `terminology://fhir.hl7.org/ValueSet/$expand?url=${VALUE_SET}`,
        ),
      )
      .catch(() => NAME);
    const ehr = await client.ehr.create({});
    await web.open(`/patients/${ehr.id}/form?template=${NAME}`);
    await web.page.getByRole('button', { name: 'Fill with example' }).click();
    await web.page.getByRole('button', { name: 'Undo' }).waitFor();
    const field = web.page.getByRole('combobox', { name: /^coded text terminology/ }).first();
    const code = web.page.locator('input[value="49727002"]').first();
    return { client, ehr, field, code };
  };

  it('are found by words, and are what the document says', async () => {
    const before = expanded;
    const { client, ehr, field, code } = await openForm();
    const addresses: string[] = [];
    web.page.on('request', (request) => addresses.push(request.url()));
    // Nobody is asked about a field that nobody has gone to.
    expect(expanded).toBe(before);
    await field.fill('cou');
    await web.page.getByRole('option', { name: 'Cough (49727002)' }).click();
    await code.waitFor();
    expect(await field.inputValue()).toBe('Cough');
    // No log of addresses learns what is looked for.
    expect(addresses.filter((address) => /cou/i.test(new URL(address).search))).toEqual([]);
    // Another text is not what the code says.
    await field.fill('Cough at night');
    await code.waitFor({ state: 'detached' });
    await field.fill('cou');
    await web.page.getByRole('option', { name: 'Cough (49727002)' }).click();
    await code.waitFor();
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await web.page.getByText('Cough').first().waitFor();
    const { rows } = await client.query<{ c: object }>('SELECT c FROM EHR e CONTAINS COMPOSITION c', {
      ehrId: ehr.id,
    });
    expect(JSON.stringify(rows)).toContain(
      '"terminology_id":{"_type":"TERMINOLOGY_ID","value":"http://snomed.info/sct"},"code_string":"49727002"',
    );
  });

  it('are never taken by Enter from what was found for other words', async () => {
    const { field, code } = await openForm();
    await field.fill('');
    await field.click();
    const fever = web.page.getByRole('option', { name: 'Fever (386661006)' });
    await fever.waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route(/\/rest\/terminology/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    // Fever stands first, until the server has answered.
    await field.pressSequentially('cou');
    await field.press('Enter');
    await code.waitFor();
    expect(await field.inputValue()).toBe('Cough');
    await field.fill('rash');
    await fever.waitFor({ state: 'detached' });
    await field.press('Enter');
    expect(await field.inputValue()).toBe('rash');
    await code.waitFor({ state: 'detached' });
    release();
  });
});
