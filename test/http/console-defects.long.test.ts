import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { bearer } from '../support/tokens.js';

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('what was wrong once (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const openRecord = async () => {
    await web.open('/patients?find=P-0001');
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    await web.page.getByText('6 of 6 compositions').waitFor();
  };

  it('draws three trends at once: the third throws out none, and takes no colour', async () => {
    await openRecord();
    const trends = web.page.locator('.trend');
    const colour = (index: number) =>
      trends.nth(index).locator('.sparkline path').first().getAttribute('stroke');
    await trends.nth(0).click();
    const first = await colour(0);
    for (const index of [1, 2]) await trends.nth(index).click();
    for (const index of [0, 1, 2]) expect(await trends.nth(index).getAttribute('aria-pressed')).toBe('true');
    expect(await colour(0)).toBe(first);
    const label = await web.page.getByRole('img', { name: / over time$/ }).getAttribute('aria-label');
    expect(label?.split(', ')).toHaveLength(3);
  });

  it('says that values are missing where more of them are stored than are read', async () => {
    await web.page.route('**/query/aql', (route) => {
      if (route.request().postData()?.includes('math_function') !== true) return route.continue();
      const value = { _type: 'DV_COUNT', magnitude: 1 };
      const row = {
        uid: 'u',
        time: '2026-03-01T08:00:00Z',
        entry: 'Pulse',
        node: 'at4',
        name: 'Rate',
        value,
      };
      const columns = Object.keys(row).map((name) => ({ name, path: '' }));
      const rows = Array.from({ length: 20_000 }, () => Object.values(row));
      return route.fulfill({ json: { q: '', columns, rows } });
    });
    await openRecord();
    await web.page.getByText(/^Only 20,000 values are read/).waitFor();
  });

  it('says in the field whom the list is searched for', async () => {
    await web.open('/patients?find=P-0001');
    const field = web.page.getByRole('searchbox');
    await web.page.getByRole('link', { name: 'P-0002' }).waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('P-0001');
    await web.page
      .getByRole('navigation')
      .getByRole('link', { name: 'Patients', exact: true })
      .first()
      .click();
    await web.page.getByRole('link', { name: 'P-0002' }).first().waitFor();
    expect(await field.inputValue()).toBe('');
  });

  it('turns pages at an address that can be read', async () => {
    const client = new Cdr({ url: web.url });
    for (let count = 0; count < 30; count += 1)
      await client.ehr.create({ subject: { namespace: 'pages', id: `page-${count}` } });
    await web.open('/patients');
    await web.page.getByRole('button', { name: 'Next' }).click();
    await web.page.getByText(/^26–/).waitFor();
    expect(new URL(web.page.url()).hash).toBe('#/patients?page=2');
    await web.page.reload();
    await web.page.getByText(/^26–/).waitFor();
    await web.expectGood();
  });

  it('draws commits and queries by one scale', async () => {
    await web.page.route('**/rest/overview', async (route) => {
      const answer = await route.fetch();
      const overview = (await answer.json()) as { activity: { minutes: object[] } };
      const { minutes } = overview.activity;
      minutes.splice(-1, 1, { ...minutes.at(-1), commits: 1456, queries: 4 });
      await route.fulfill({ response: answer, json: overview });
    });
    await web.open('/');
    const chart = web.page.locator('figure.activity').first();
    const heights = (name: string) =>
      chart
        .locator(`rect.${name}`)
        .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('height'))));
    await chart.getByText('1,456', { exact: false }).first().waitFor();
    expect(Math.max(...(await heights('commits')))).toBeGreaterThan(71);
    // Seen, and no taller than what is hardly anything.
    expect(Math.max(...(await heights('queries')))).toBe(2);
  });

  it('tells each document by its time to who hears its link, and moves the timeline by keys', async () => {
    await openRecord();
    const names = await web.page
      .locator('.composition-list a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
    expect(names).toHaveLength(6);
    expect(new Set(names).size).toBe(6);
    const timeline = web.page.getByRole('group', { name: /Arrow keys move/ }).first();
    await timeline.focus();
    for (let key = 0; key < 8; key += 1) await web.page.keyboard.press('+');
    await web.page.getByText(/^[0-5] of 6 compositions$/).waitFor();
    await web.page.keyboard.press('Home');
    await web.page.getByText('6 of 6 compositions').waitFor();
  });

  it('names lanes by what their templates are about, each in its own colour', async () => {
    await web.open('/patients?find=P-0002');
    await web.page.getByRole('link', { name: 'P-0002' }).click();
    const legend = web.page.locator('.legend li');
    // Their concepts are their ids, which are nobody's words.
    await legend.filter({ hasText: /^Bericht \d+$/ }).waitFor();
    await legend.filter({ hasText: /^Encounter \(training sample\) \d+$/ }).waitFor();
    const colours = (dots: string) =>
      web.page.evaluate<string[]>(
        `[...document.querySelectorAll('${dots}')].map((each) => getComputedStyle(each).backgroundColor)`,
      );
    const lanes = new Set(await colours('.legend .dot'));
    expect(lanes.size).toBe(2);
    expect(new Set(await colours('.composition-list .dot'))).toEqual(lanes);
    await web.expectGood();
  });

  it('acts by the palette, and gives charts what one puts on their shelves', async () => {
    await web.open('/query');
    await web.page.keyboard.press('Escape');
    await web.write(
      'SELECT c/name/value AS what, o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude AS high, o/data[at0001]/events[at0002]/data[at0003]/items[at0005]/value/magnitude AS low FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
    );
    await web.page.locator('.cm-content').press('Control+Enter');
    await web.page.getByText('Chart', { exact: true }).click();
    await web.page.getByRole('img', { name: 'low by high' }).waitFor();
    const choose = async (shelf: string, option: string) => {
      await web.page.getByRole('combobox', { name: shelf, exact: true }).click();
      await web.page.getByRole('option', { name: option, exact: true }).click();
    };
    await choose('x', 'what');
    await choose('y', 'high');
    await web.page.getByText('Bars', { exact: true }).click();
    await choose('Rows of one x', 'mean');
    await web.page.getByRole('img', { name: 'high by what' }).waitFor();
    await choose('Split by', 'what');
    await web.page.getByText(/high by what · one for each what/).waitFor();
    await web.expectGood();
    await web.page.keyboard.press('Control+K');
    await web.page.locator('input[aria-label="Search"]:focus').waitFor();
    await web.page.keyboard.type('Appearance');
    await web.page.locator('.mantine-Spotlight-action', { hasText: 'Appearance: Dark' }).waitFor();
    await web.page.keyboard.press('Enter');
    await web.page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  });

  it('draws a line for each patient, in time, though rows stand the other way round', async () => {
    await web.open('/query');
    await web.write(
      'SELECT e/ehr_status/subject/external_ref/id/value AS who, c/context/start_time/value AS at, o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value AS systolic FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1] ORDER BY c/context/start_time/value DESC',
    );
    await web.page.locator('.cm-content').press('Control+Enter');
    await web.page.getByText(/^[1-9]\d* rows/).waitFor();
    await web.page.getByText('Chart', { exact: true }).click();
    await web.page.getByRole('img', { name: 'systolic by at' }).waitFor();
    // Of data values, one line for each of the three.
    await web.page.getByText('systolic by at · one for each who').waitFor();
    expect(await web.page.getByRole('radio', { name: 'Lines' }).isChecked()).toBe(true);
    await web.expectGood();
  });

  it('draws points, and no line through different patients, where an answer does not say whose its rows are', async () => {
    await web.open('/query');
    await web.write(
      'SELECT c/context/start_time/value AS at, o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value AS systolic FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]',
    );
    await web.page.locator('.cm-content').press('Control+Enter');
    await web.page.getByText(/^[1-9]\d* rows/).waitFor();
    await web.page.getByText('Chart', { exact: true }).click();
    await web.page.getByRole('img', { name: 'systolic by at' }).waitFor();
    expect(await web.page.getByRole('radio', { name: 'Scatter' }).isChecked()).toBe(true);
    await web.expectGood();
  });

  it('says aloud that a document is saved, and finds in German what is wrong with it', async () => {
    await web.page.addInitScript("localStorage.setItem('everchart-language', JSON.stringify('de'))");
    const { id } = await new Cdr({ url: web.url }).ehr.create({});
    await web.open(`/patients/${id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
    const systolic = web.page.getByLabel('Systolic').first();
    await web.page.getByLabel('Verfasser').first().fill('Ada Moe');
    await systolic.fill('5000');
    await systolic.press('Tab');
    await web.page.getByText('muss 0 … < 1000 sein').waitFor();
    await web.page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await web.page.getByText(/hat einen Wert, den das Template nicht zulässt/).waitFor();
    web.forgive('422');
    await web.expectGood();
    await systolic.fill('120');
    await web.page.getByRole('button', { name: 'Als Entwurf speichern' }).click();
    await web.page
      .getByRole('status')
      .getByText(/[Ee]ntwurf/)
      .first()
      .waitFor();
    await web.expectGood();
    // What openEHR calls things is German too, where a form offers it.
    await web.page.getByRole('button', { name: 'Bearbeiten' }).click();
    await web.page.locator('summary', { hasText: 'andere Versorgung' }).waitFor();
  });
});

inBrowser('who a patient is, by paths (skipped where no Chromium is installed)', () => {
  const web = useConsole({
    patientBannerPaths: [
      'openEHR-EHR-EHR_STATUS.generic.v1/other_details/items[at0002]',
      'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1/data[at0001]/events[at0002]/data[at0003]/items[at0004]',
    ],
  });
  const named = (value: string) => ({ _type: 'DV_TEXT', value });

  it('stands above his pages: of his status, else of his newest document', async () => {
    const born = {
      _type: 'ELEMENT',
      archetype_node_id: 'at0002',
      name: named('Birth date'),
      value: { _type: 'DV_DATE', value: '19800203' },
    };
    const { id } = await new Cdr({ url: web.url }).ehr.create({
      status: {
        _type: 'EHR_STATUS',
        archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
        name: named('EHR Status'),
        subject: { _type: 'PARTY_SELF' },
        is_queryable: true,
        is_modifiable: true,
        other_details: {
          _type: 'ITEM_TREE',
          archetype_node_id: 'at0001',
          name: named('Tree'),
          items: [born, { ...born, archetype_node_id: 'at0003', name: named('Shoe size') }],
        },
      },
    } as never);
    const banner = web.page.getByLabel('Patient', { exact: true });
    await web.open(`/patients/${id}`);
    await banner.getByText('3 Feb 1980').waitFor();
    // What no path names does not say who he is.
    expect(await banner.getByText('Shoe size').count()).toBe(0);
    await web.open('/patients?find=P-0001');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route(/\/ehr_status(\?|$)/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await web.page.getByRole('link', { name: 'P-0001' }).click();
    // Who he is, is not known yet: he is not said to be nobody.
    await banner.getByText('…', { exact: true }).waitFor();
    release();
    await banner.getByText(/\d+ mmHg/).waitFor();
    await web.expectGood();
  });

  it('answers as of the time that was chosen while rows were still on their way', async () => {
    await web.open(`/query?q=${encodeURIComponent('SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c')}`);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await web.page.route('**/query/aql', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await web.page.getByRole('button', { name: 'Run' }).click();
    await web.page.getByRole('slider').press('ArrowRight');
    await web.page.getByRole('slider').press('ArrowRight');
    release();
    // Six hours ago there was nothing yet.
    await web.page.getByText('No rows').waitFor();
    await web.page.unroute('**/query/aql');
  });
});

inBrowser('a workstation that several people share (skipped where no Chromium is installed)', () => {
  const web = useConsole({ auth: 'jwt' });

  it('is locked for who signed in by a token too, and shows nothing until he is back', async () => {
    const token = bearer(['USER', 'ADMIN'], 'ada').replace('Bearer ', '');
    const { id } = await new Cdr({ url: web.url, token }).ehr.create({
      subject: { namespace: 'ward', id: 'S-1' },
    });
    await web.page.clock.install();
    await web.open(`/patients/${id}`);
    await web.pasteToken(['USER'], 'ada');
    await web.page.getByRole('heading', { name: 'S-1' }).waitFor();
    await web.page.clock.fastForward('15:30');
    const dialog = web.page.getByRole('dialog');
    await dialog.getByText('Locked').waitFor();
    const seen = await web.page.evaluate<string>('document.body.innerText + document.title');
    expect(seen).not.toContain('S-1');
    await dialog.getByLabel('Token').fill(bearer(['USER'], 'ada').replace('Bearer ', ''));
    await dialog.locator('button[type=submit]').click();
    await dialog.waitFor({ state: 'detached' });
    await web.page.getByRole('heading', { name: 'S-1' }).waitFor();
  });
});
