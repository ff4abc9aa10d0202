import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hasBrowser } from '../support/browser/browser.js';
import { beyondEdge, useConsole } from '../support/browser/console.js';
import {
  clientOf,
  EMERGENCY_DEPARTMENT,
  givenWardPatient,
  readyPolicy,
  signIn,
  storePolicies,
  wardSettings,
} from '../support/browser/ward.js';
import { ROOT, tokenOf } from '../support/policy/marks.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const POLICIES = {
  ward: readyPolicy('ward'),
  patients: readyPolicy('patients'),
  psychiatry: readyPolicy('psychiatry'),
  'emergency-department': EMERGENCY_DEPARTMENT,
};
const WITHHELD = {
  kind: 'patient_restriction',
  ground: 'nobody has to know',
  template_id: 'minimal_evaluation.en.v1',
} as const;
const REASON = 'bewußtlos, keine Angehörigen';

inBrowser('who sees what in the console (skipped where no Chromium is installed)', () => {
  const web = useConsole(wardSettings());
  let here: Awaited<ReturnType<typeof givenWardPatient>>;
  let elsewhere: typeof here;

  beforeAll(async () => {
    here = await givenWardPatient(web.url, '3B', 'P-3B-1');
    elsewhere = await givenWardPatient(web.url, '4A', 'P-4A-1');
  });
  beforeEach(async () => {
    await storePolicies(web.url, POLICIES);
    await root().ehr(here.ehrId).marks.set([]);
  });

  const root = () => clientOf(web.url, ROOT);
  const documents = () => web.page.locator('.composition-list li');
  const opened = () => web.page.getByLabel('Patient', { exact: true });
  const document = (uid: string): string => `/patients/${here.ehrId}/compositions/${encodeURIComponent(uid)}`;
  const goTo = (view: string) => web.page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`);

  it('a physician sees his ward, and of it nothing that psychiatry wrote', async () => {
    await web.open('/patients');
    await signIn(web.page, ['PHYSICIAN'], { name: 'clara', organisation: '3B' });
    await web.page.getByRole('link', { name: here.subject }).waitFor();
    expect(await web.page.getByRole('link', { name: elsewhere.subject }).count()).toBe(0);
    await web.page.getByRole('link', { name: here.subject }).click();
    await documents().first().waitFor();
    expect(await documents().count()).toBe(1);
    expect(await web.page.getByRole('tab', { name: 'Restrictions' }).count()).toBe(0);
    expect(await web.page.getByRole('tab', { name: 'Access' }).count()).toBe(0);
    expect(await web.page.getByRole('button', { name: 'Emergency access' }).count()).toBe(0);
    await web.expectGood();
    await goTo(document(here.psychiatry));
    await web.page.getByText('Not found').first().waitFor();
    await goTo(`/patients/${elsewhere.ehrId}`);
    await web.page.getByText('Not found').first().waitFor();
    expect(await web.page.getByText('withheld').count()).toBe(0);
    web.forgiveAll('404');
    await web.expectGood();
  });

  it('a psychiatrist of the ward sees both', async () => {
    await web.open(`/patients/${here.ehrId}`);
    await signIn(web.page, ['PSYCHIATRIST'], { name: 'piet', organisation: '3B' });
    await documents().nth(1).waitFor();
    expect(await documents().count()).toBe(2);
    await goTo(document(here.psychiatry));
    await web.page.getByRole('heading', { level: 1, name: 'Minimal' }).waitFor();
    await web.expectGood();
  });

  it('a patient sees his own record and nobody else, restricts it, and reads who has seen it', async () => {
    const clara = clientOf(
      web.url,
      tokenOf(['PHYSICIAN'], { organisation: '3B', preferred_username: 'clara' }, 'clara'),
    );
    await clara.ehr(here.ehrId).status.get();
    await web.open('/');
    await signIn(web.page, ['PATIENT'], { name: 'paul', ownEhrId: here.ehrId });
    await opened().getByText(here.subject).first().waitFor();
    expect(await web.page.locator('.rail a.place').allTextContents()).toEqual(['My record']);
    expect(await documents().count()).toBe(1);
    await goTo('/patients');
    await opened().getByText(here.subject).first().waitFor();
    await goTo(`/patients/${elsewhere.ehrId}`);
    await web.page.getByText('Not found').first().waitFor();
    web.forgiveAll('404');
    await web.page.getByRole('link', { name: 'My record' }).click();
    await web.page.getByRole('tab', { name: 'Restrictions' }).click();
    await web.page.getByText('Nothing is restricted').waitFor();
    await web.page.getByRole('button', { name: 'Set a restriction' }).click();
    await web.page.getByRole('combobox', { name: 'About what' }).click();
    await web.page.getByRole('option', { name: 'a part of the documents' }).click();
    const set = web.page.getByRole('button', { name: 'Set it' });
    await web.page.getByRole('textbox', { name: 'Why' }).fill('nobody has to know');
    // A part of what is not said.
    expect(await set.isDisabled()).toBe(true);
    await web.page
      .getByRole('combobox', { name: 'Documents of the template' })
      .fill('minimal_evaluation.en.v1');
    await web.page.keyboard.press('Escape');
    await web.expectGood();
    await set.click();
    await web.page.getByText('nobody has to know').waitFor();
    await web.page.getByText('This record is restricted:').waitFor();
    await expect(clara.ehr(here.ehrId).compositions.get(here.note)).rejects.toMatchObject({ status: 404 });
    await web.page.getByRole('tab', { name: 'Access' }).click();
    await web.page
      .getByRole('row', { name: /clara .*ran a query/ })
      .first()
      .waitFor();
    await web.page.getByLabel('Without what I did myself').check();
    await web.page.getByRole('row', { name: /paul/ }).first().waitFor({ state: 'detached' });
    await web.expectGood();
    const saved = web.page.waitForEvent('download');
    await web.page.getByRole('button', { name: 'CSV' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toMatch(/^time,user,what,why/);
    expect(lines.some((line) => line.includes(',clara,read the status,'))).toBe(true);
    // Later than all that was done.
    await web.page.getByLabel('Since').fill('2124-01-01');
    await web.page.getByText('Nobody has seen or changed it in this time').waitFor();
    await web.page.setViewportSize({ width: 360, height: 740 });
    expect(await beyondEdge(web.page)).toEqual([]);
  });

  it('a night nurse is told that something is withheld, sees it in an emergency, and no more when that ends', async () => {
    await root().ehr(here.ehrId).marks.set([WITHHELD]);
    await web.open(`/patients/${here.ehrId}`);
    await signIn(web.page, ['NIGHT'], { name: 'nora', organisation: '3B' });
    await web.page.getByText('Something in this record is withheld from you.').waitFor();
    await web.page.getByText('Nothing here that you may see').waitFor();
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Emergency access' }).click();
    const begin = web.page.getByRole('button', { name: 'Open in an emergency' });
    expect(await begin.isDisabled()).toBe(true);
    await web.page.getByRole('textbox', { name: 'Reason' }).fill(REASON);
    await web.expectGood();
    await web.page.keyboard.press('Enter');
    await web.page.getByText('Emergency access since').waitFor();
    await documents().first().waitFor();
    expect(await web.page.getByText('Something in this record is withheld').count()).toBe(0);
    await web.expectGood();
    await documents().getByRole('link').first().click();
    await web.page.getByRole('heading', { level: 1, name: 'Minimal' }).waitFor();
    // On every page of the patient.
    await web.page.getByText(REASON).waitFor();
    await web.page.setViewportSize({ width: 360, height: 740 });
    expect(await beyondEdge(web.page)).toEqual([]);
    await web.expectGood();
    await web.page.getByRole('button', { name: 'End emergency access' }).click();
    await web.page.getByText('Something in this record is withheld from you.').waitFor();
    expect(await documents().count()).toBe(0);
    const used = await root().admin.audit({ operation: 'emergency_access', ehrId: here.ehrId });
    expect(used.length).toBeGreaterThan(2);
    for (const record of used)
      expect(record).toMatchObject({ user: 'nora', purpose: 'ETREAT', reason: REASON });
  });

  it('finds somebody of another ward by his whole number in an emergency, and not otherwise', async () => {
    await web.open(`/patients?find=${elsewhere.subject}`);
    await signIn(web.page, ['NIGHT'], { name: 'nora', organisation: '3B' });
    await web.page.getByText('Somebody may be missing here').waitFor();
    expect(await web.page.getByRole('link', { name: elsewhere.subject }).count()).toBe(0);
    await web.page.getByRole('button', { name: 'Emergency access' }).click();
    await web.page.getByLabel('Another urgent reason').check();
    await web.page.getByRole('textbox', { name: 'Reason' }).fill('brought in by police');
    await web.page.getByRole('button', { name: 'Find in an emergency' }).click();
    await web.page.getByRole('button', { name: new RegExp(elsewhere.subject) }).waitFor();
    await web.expectGood();
    await web.page.getByRole('button', { name: new RegExp(elsewhere.subject) }).click();
    await web.page.getByText('Emergency access since').waitFor();
    await opened().getByText(elsewhere.subject).first().waitFor();
    await documents().first().waitFor();
    await web.page.getByRole('button', { name: 'End emergency access' }).click();
    await web.page.getByText('This record is withheld from you.').waitFor();
    expect(await documents().count()).toBe(0);
    web.forgiveAll('404');
    await web.expectGood();
  });

  it('an emergency passes no restriction of processing, of which an administrator is told why, and lifts it', async () => {
    const gone = await givenMarked();
    await web.open(`/patients/${gone}`);
    await signIn(web.page, ['NIGHT'], { name: 'nora', organisation: '3B' });
    await web.page.getByText('Not found').first().waitFor();
    expect(await web.page.getByRole('button', { name: 'Emergency access' }).count()).toBe(0);
    web.forgiveAll('404');
    await web.page.goto('about:blank');
    await web.open(`/patients/${gone}`);
    await signIn(web.page, ['ADMIN'], { name: 'root', organisation: '3B' });
    await web.page.getByRole('heading', { name: 'This record is restricted' }).waitFor();
    await web.page.getByText('he contests it').first().waitFor();
    web.forgiveAll('403');
    await web.expectGood();
    await web.page.getByRole('button', { name: 'Lift', exact: true }).click();
    await web.page.getByRole('button', { name: 'Lift it' }).click();
    await opened().waitFor();
    await web.page.getByRole('tab', { name: 'Restrictions' }).click();
    await web.page.getByLabel('Also those that were lifted (1)').check();
    await web.page.getByText('he contests it').waitFor();
    await web.expectGood();
  });

  /** A new patient, made before policies hold, whose processing is restricted. */
  async function givenMarked(): Promise<string> {
    for (const id of Object.keys(POLICIES)) await root().request('DELETE', `/rest/admin/policies/${id}`);
    const { ehrId } = await givenWardPatient(web.url, '3B', 'P-3B-2');
    await storePolicies(web.url, POLICIES);
    await root()
      .ehr(ehrId)
      .marks.set([{ kind: 'restriction_of_processing', ground: 'he contests it' }]);
    return ehrId;
  }

  it('an auditor sees emergencies, restrictions and who has seen a record, and no content', async () => {
    await root().ehr(here.ehrId).marks.set([WITHHELD]);
    const nora = clientOf(web.url, tokenOf(['NIGHT'], { preferred_username: 'nora' }, 'nora'));
    await nora.inEmergency(REASON, 'ETREAT').ehr(here.ehrId).get();
    await nora.inEmergency('brought in by police').ehr.search(elsewhere.subject);
    await web.open('/');
    await signIn(web.page, ['AUDITOR'], { name: 'otto' });
    await web.page.getByRole('tab', { name: 'Access' }).click();
    await web.page.getByRole('tab', { name: 'Emergencies' }).click();
    await web.page
      .getByRole('row', { name: /nora.*Emergency treatment: bewußtlos/ })
      .first()
      .waitFor();
    await web.page
      .getByRole('row', { name: /nora.*Another urgent reason: brought in/ })
      .first()
      .waitFor();
    expect(await web.page.getByRole('tab', { name: 'Policies' }).count()).toBe(0);
    web.forgiveAll('403');
    await web.expectGood();
    await web.page.setViewportSize({ width: 360, height: 740 });
    expect(await beyondEdge(web.page)).toEqual([]);
    await web.page.setViewportSize({ width: 1440, height: 900 });
    await web.page.getByRole('tab', { name: 'One record' }).click();
    await web.page.getByRole('combobox', { name: 'Whose record?' }).fill(here.ehrId);
    await web.page.getByRole('button', { name: 'Show', exact: true }).click();
    await web.page.getByText('nobody has to know').waitFor();
    await web.page
      .getByRole('cell', { name: /stated an emergency/ })
      .first()
      .waitFor();
    // He reads, and changes nothing.
    expect(await web.page.getByRole('button', { name: 'Set a restriction' }).count()).toBe(0);
    expect(await web.page.getByRole('button', { name: 'Lift' }).count()).toBe(0);
    await web.expectGood();
  });
});
