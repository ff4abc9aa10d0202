import { describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { Cdr } from '../../packages/client/src/main.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('what the console offers to a role (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt', auditReads: true });
  const places = () => web.page.locator('.rail a.place').allTextContents();

  it('lets a reader read, and offers nothing that he may not do', async () => {
    await web.open('/templates');
    await web.pasteToken(['READER']);
    const [none, some] = [web.page.getByText('No templates yet'), web.page.locator('tbody tr')];
    await none.or(some).first().waitFor();
    expect(await web.page.locator('input[type=file], .drop').count()).toBe(0);
    expect(await places()).toEqual(['Overview', 'Patients', 'Templates', 'Query', 'Administration']);
    await web.expectGood();
  });

  it('shows a reader older versions, and offers him none of them to restore', async () => {
    const client = new Cdr({ url: web.url, token: bearer(['USER']).replace('Bearer ', '') });
    const template = await client.templates
      .upload(fixtureText('opt/minimal_evaluation.en.v1.opt'))
      .catch(() => 'minimal_evaluation.en.v1');
    const { id } = await client.ehr.create({});
    const documents = client.ehr(id).compositions;
    const { uid } = await documents.commit(await client.templates.example(template));
    await documents.update(uid, (now) => now);
    await web.open(`/patients/${id}/compositions/${uid}`);
    await web.pasteToken(['READER']);
    await web.page.getByText('This is an older version.').waitFor();
    expect(await web.page.getByRole('button', { name: 'Restore' }).count()).toBe(0);
    await web.expectGood();
  });

  it('offers the upload of templates to a user', async () => {
    await web.open('/templates');
    await web.pasteToken(['USER']);
    await web.page.locator('.drop').waitFor();
    await web.expectGood();
  });

  it('shows an auditor who has seen a record that he may not read', async () => {
    const client = new Cdr({ url: web.url, token: bearer(['USER']).replace('Bearer ', '') });
    const { id } = await client.ehr.create({});
    await web.open(`/patients/${id}`);
    await web.pasteToken(['AUDITOR']);
    await web.page.getByRole('cell', { name: 'made a record' }).waitFor();
    expect(await web.page.getByText('Not allowed').count()).toBe(0);
    const visit = web.page.getByRole('row').filter({ hasText: 'made a record' });
    await visit.getByRole('button', { name: /request/ }).click();
    await web.page.getByRole('cell', { name: 'ehr_create' }).waitFor();
    web.forgive('403');
    await web.expectGood();
  });

  it('says who did what with whose record, once for several requests, and leads to it', async () => {
    const clara = new Cdr({ url: web.url, token: bearer(['USER'], 'clara').replace('Bearer ', '') });
    const subject = `seen-${Math.random()}`;
    const { id } = await clara.ehr.create({ subject: { namespace: 'ward', id: subject } });
    for (let times = 0; times < 3; times += 1) await clara.ehr(id).status.get();
    const admin = new Cdr({ url: web.url, token: bearer(['ADMIN'], 'ben').replace('Bearer ', '') });
    const other = await admin.ehr.create({ subject: { namespace: 'ward', id: `other-${subject}` } });
    await admin.admin.merges.merge({ source_ehr: other.id, target_ehr: id, reversible: true, dry_run: true });
    await web.open('/administration?tab=audit');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByRole('textbox', { name: 'Record' }).fill(id);
    const visit = web.page.getByRole('row').filter({ hasText: 'clara' });
    await visit.getByRole('cell', { name: /read the status ×3/ }).waitFor();
    expect(await visit.count()).toBe(1);
    // What was only tried is said to be so.
    await web.page.getByText('looked at a plan, nothing done').first().waitFor();
    expect(await web.page.getByText('merged records').count()).toBe(0);
    await web.expectGood();
    await visit.getByRole('link', { name: `${subject} · ward` }).click();
    await web.page.getByLabel('Patient', { exact: true }).getByText(subject).first().waitFor();
    expect(web.page.url()).toContain(`/patients/${id}`);
  });

  it('begins for an auditor where he may look, and leads nowhere else', async () => {
    await web.open('/');
    await web.pasteToken(['AUDITOR']);
    await web.page.getByRole('tab', { name: 'Audit' }).waitFor();
    expect(await places()).toEqual(['Administration']);
    expect(await web.page.getByText('Not allowed').count()).toBe(0);
    await web.page.keyboard.press('Control+K');
    await web.page.getByRole('dialog').getByText('Administration').waitFor();
    expect(await web.page.getByRole('dialog').getByText('Patients').count()).toBe(0);
    web.forgive('403');
    await web.expectGood();
  });
});
