import { beforeEach, describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText } from '../support/fixture.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const TEMPLATE = 'test_all_types.en.v1';
/** What English would say where German has to. */
const ENGLISH =
  /Subject id|Name of the document|Start of the document|Version uid|defining code|code string|feeder|original|hyperlink|is removed|versions|select primitive|decided by the server|documents (are|of)|because no index/i;

inBrowser('a German page (skipped where no Chromium is installed)', () => {
  const web = useConsole({ fourEyes: ['erase'] });
  const ada = () => new Cdr({ url: web.url, token: bearer(['ADMIN'], 'ada').replace('Bearer ', '') });

  beforeEach(async () => {
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
  });

  it('names in the builder what every query can ask for', async () => {
    await web.open('/query');
    await web.write('SELECT e/ehr_id/value AS ehr FROM EHR e CONTAINS COMPOSITION c');
    await web.page.getByRole('button', { name: 'Baukasten' }).click();
    await web.page.getByRole('combobox', { name: 'Spalte hinzufügen' }).click();
    const offered = (await web.page.getByRole('option').allInnerTexts()).join('\n');
    expect(offered).toContain('Titel des Dokuments · c');
    expect(offered).toContain('Nummer der Person · e');
    expect(offered).not.toMatch(ENGLISH);
    await web.page.keyboard.press('Escape');
    await web.expectGood();
  });

  it('explains a query, with what would make it quicker', async () => {
    await web.open('/query');
    await web.write('SELECT DISTINCT o FROM OBSERVATION o[openEHR-EHR-OBSERVATION.nowhere.v1]');
    await web.page.getByRole('button', { name: 'Erklären' }).click();
    const hints = web.page.locator('.hints');
    await hints.getByText('entscheidet der Server nach der Pipeline').waitFor();
    await hints.getByText(/^Zeile 1:\d+: kein gespeichertes Template hat den Archetyp/).waitFor();
    expect(await hints.innerText()).not.toMatch(ENGLISH);
    await web.expectGood();
  });

  it('compares versions and says where a document is from', async () => {
    await ada()
      .templates.upload(fixtureText(`opt/${TEMPLATE}.opt`))
      .catch(() => TEMPLATE);
    const ehr = await ada().ehr.create({ subject: { namespace: 'ward', id: `de-${Math.random()}` } });
    const { compositions } = ada().ehr(ehr.id);
    const first = {
      ...(fixtureJson(`composition/${TEMPLATE}.json`) as object),
      feeder_audit: {
        _type: 'FEEDER_AUDIT',
        originating_system_audit: { _type: 'FEEDER_AUDIT_DETAILS', system_id: 'LAB-7' },
      },
    };
    const changed = JSON.parse(JSON.stringify(first).replaceAll('1004034', '59621000')) as object;
    const { uid } = await compositions.commit({ ...first, uid: undefined });
    const { uid: latest } = await compositions.update(uid, { ...changed, uid: undefined });
    await web.open(`/patients/${ehr.id}/compositions/${encodeURIComponent(latest)}`);
    const about = web.page.locator('.about');
    await about.getByText('Über dieses Dokument').waitFor();
    await about.getByText('Herkunft › Nachweis des Ursprungssystems › Systemkennung').waitFor();
    expect(await web.page.locator('.fact .label').allInnerTexts()).not.toContainEqual(
      expect.stringMatching(ENGLISH),
    );
    await web.page.getByRole('button', { name: 'Mit der gezeigten vergleichen' }).click();
    await web.page.getByText('Code der Bedeutung › Code: 1004034 → 59621000').first().waitFor();
    expect(await web.page.locator('.differences').innerText()).not.toMatch(ENGLISH);
    await web.expectGood();
  });

  it('says what waits for a second person', async () => {
    const { id } = await ada().ehr.create({ subject: { namespace: 'ward', id: 'WEG-1' } });
    await ada().admin.deleteEhr(id, { reason: 'Wunsch', requestedBy: 'Station 3' });
    await web.open('/administration?tab=merges');
    await web.pasteToken(['ADMIN'], 'ben');
    await web.page.getByText('Sie wird mit allem, was darin ist, entfernt').waitFor();
    await web.page.getByRole('button', { name: 'Plan zeigen' }).click();
    await web.page.locator('.plan-facts').getByText('Dokumente: 0').waitFor();
    expect(await web.page.locator('main').innerText()).not.toMatch(ENGLISH);
    await web.expectGood();
  });
});
