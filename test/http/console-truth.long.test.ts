import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText } from '../support/fixture.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const TEMPLATE = 'test_all_types.en.v1';
const PERSISTENT = 'persistent_minimal.en.v1';
const READINGS = 'ehrbase_multi_occurrence.de.v1';

const mg = (magnitude: number) => ({ _type: 'DV_QUANTITY', magnitude, units: 'mg' });
const code = (terminology: string, code_string: string) => ({
  _type: 'CODE_PHRASE',
  terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
  code_string,
});
/** An abnormal quantity with all that says so. */
const measured = ({ status = 'HH', upper = 99, accuracy = 5 } = {}) => ({
  ...mg(178.1),
  magnitude_status: '>=',
  precision: 2,
  accuracy,
  accuracy_is_percent: true,
  normal_status: code('openehr_normal_statuses', status),
  normal_range: {
    _type: 'DV_INTERVAL',
    lower: mg(70),
    upper: mg(upper),
    lower_included: true,
    upper_included: true,
    lower_unbounded: false,
    upper_unbounded: false,
  },
  other_reference_ranges: [
    {
      _type: 'REFERENCE_RANGE',
      meaning: { _type: 'DV_TEXT', value: 'critical' },
      range: {
        _type: 'DV_INTERVAL',
        lower: mg(150),
        lower_included: false,
        upper_included: false,
        lower_unbounded: false,
        upper_unbounded: true,
      },
    },
  ],
});

/** A document of every kind of value, with parts of some of them replaced by the names of their elements. */
function documentOf(values: Readonly<Record<string, object>>): object {
  const made = JSON.parse(
    JSON.stringify(fixtureJson(`composition/${TEMPLATE}.json`)),
    (_, value: unknown) => {
      const element = value as { _type?: string; name?: { value: string }; value?: object } | null;
      const own = element?._type === 'ELEMENT' ? values[element.name?.value ?? ''] : undefined;
      return own === undefined ? value : { ...element, value: { ...element?.value, ...own } };
    },
  ) as object;
  return { ...made, uid: undefined };
}

/** A document with these temperatures of one day. */
function readingsOf(...readings: readonly { readonly at: string; readonly is: number }[]): object {
  const { content, ...document } = fixtureJson(`composition/${READINGS}.json`) as { content: object[] };
  const whole = JSON.stringify({ ...document, uid: undefined, content: content.slice(0, 1) });
  return JSON.parse(whole, (key, value: unknown) => {
    if (key !== 'events') return value;
    const event = JSON.stringify((value as object[])[0]);
    return readings.map(
      ({ at, is }) =>
        JSON.parse(event, (name, each: unknown) => {
          if (name === 'time') return { _type: 'DV_DATE_TIME', value: `2026-01-05T${at}:00Z` };
          return name === 'magnitude' && each === 22 ? is : each;
        }) as object,
    );
  }) as object;
}

inBrowser('what a document says, and what changed in it (skipped where no Chromium is installed)', () => {
  const web = useConsole({}, { timezoneId: 'Europe/Berlin' });
  const client = () => new Cdr({ url: web.url });
  const recordOf = async (name: string) => {
    await client()
      .templates.upload(fixtureText(`opt/${name}.opt`))
      .catch(() => name);
    const subject = `truth-${Math.random()}`;
    const ehr = await client().ehr.create({ subject: { namespace: 'ward', id: subject } });
    return { ehr, subject, documents: client().ehr(ehr.id).compositions };
  };
  const view = (ehrId: string, uid: string) => `/patients/${ehrId}/compositions/${encodeURIComponent(uid)}`;

  it('is whose record it is, what is abnormal and by which range, and every date whole', async () => {
    const { ehr, subject, documents } = await recordOf(TEMPLATE);
    const { uid } = await documents.commit(documentOf({ quantity: measured() }) as never);
    await web.open(view(ehr.id, uid));
    const letter = web.page.locator('.document');
    await letter.getByText('≥178.10').first().waitFor();
    const text = await letter.innerText();
    for (const part of ['HH', '± 5 %', 'normal 70 – 99', 'critical > 150', '14 Jan 2019', '1 · ord1'])
      expect(text).toContain(part);
    expect(text).not.toContain('"_type"');
    // A code is on hover, and heard.
    expect(text).toContain('SNOMED-CT::1004034');
    const banner = web.page.getByLabel('Patient', { exact: true });
    await banner.getByText(subject).first().waitFor();
    await banner.getByText(ehr.id).waitFor();
    await web.expectGood();
    // The list and the trends say no less.
    await web.open(`/patients/${ehr.id}`);
    for (const place of ['.content-line', '.trend-value'])
      await web.page.locator(place, { hasText: '≥178.10 HH mg' }).first().waitFor();
    await web.expectGood();
  });

  it('is compared by what is recorded: codes, flags, ranges and dates that no text shows', async () => {
    const { ehr, subject, documents } = await recordOf(TEMPLATE);
    const { uid } = await documents.commit(documentOf({ quantity: measured() }) as never);
    const changed = documentOf({
      quantity: measured({ status: 'LL', upper: 150, accuracy: 7 }),
      'coded text terminology': { defining_code: code('SNOMED-CT', '59621000') },
      date: { value: '20190320' },
      identifier: { issuer: 'Ward 3' },
    });
    const { uid: latest } = await documents.update(uid, changed as never);
    await web.open(view(ehr.id, latest));
    await web.page.getByRole('button', { name: 'Compare with the one shown' }).click();
    const differences = web.page.locator('.differences');
    await differences.waitFor();
    const said = await differences.innerText();
    for (const part of [
      'code string: 1004034 → 59621000',
      'code string: HH → LL',
      '20 Mar 2019',
      'issuer: Hospital de Clinicas → Ward 3',
      'accuracy: 5 → 7',
      '99',
      '150',
    ])
      expect(said).toContain(part);
    expect(await web.page.getByText('The two versions say the same').count()).toBe(0);
    await web.page.getByLabel('Patient', { exact: true }).getByText(subject).first().waitFor();
    await web.expectGood();
  });

  it('has one line for a reading that was put in front of others', async () => {
    const { ehr, documents } = await recordOf(READINGS);
    const [early, late] = [
      { at: '08:00', is: 38.2 },
      { at: '12:00', is: 39.3 },
    ] as const;
    const { uid } = await documents.commit(readingsOf(early, late) as never);
    const after = readingsOf({ at: '06:00', is: 36.6 }, early, late);
    const { uid: latest } = await documents.update(uid, after as never);
    await web.open(view(ehr.id, latest));
    await web.page.getByRole('button', { name: 'Compare with the one shown' }).click();
    await web.page.locator('.differences li').first().waitFor();
    expect(await web.page.locator('.differences del').count()).toBe(0);
    const kinds = await web.page.locator('.differences li b').allInnerTexts();
    expect(kinds.map((kind) => kind.trim())).toEqual(['added']);
    expect(await web.page.locator('.differences').innerText()).toMatch(/5 Jan 2026, 07:00 CET[^]*36\.6 °C/);
  });

  it('says how something was measured after what was measured, in whatever order it is stored', async () => {
    const { ehr, documents } = await recordOf(READINGS);
    const stored = readingsOf({ at: '08:00', is: 38.2 });
    const turned = JSON.parse(JSON.stringify(stored), (_, value: { _type?: string } | null) =>
      value?._type === 'OBSERVATION' ? Object.fromEntries(Object.entries(value).reverse()) : value,
    ) as object;
    for (const content of [stored, turned]) {
      const { uid } = await documents.commit(content as never);
      await web.page.goto('about:blank');
      await web.open(view(ehr.id, uid));
      const letter = web.page.locator('.document');
      await letter.getByRole('heading', { name: 'Protocol' }).waitFor();
      const text = await letter.innerText();
      const places = ['38.2', 'Protocol', 'Forehead'].map((part) => text.indexOf(part));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(places[0]).toBeGreaterThan(0);
    }
  });

  it('is changed by a form where somebody changed it, and nowhere else', async () => {
    const { ehr, documents } = await recordOf(TEMPLATE);
    const link = { hyperlink: { _type: 'DV_URI', value: 'https://guide.example/1' } };
    const content = JSON.parse(
      JSON.stringify(documentOf({ text: link, quantity: measured() })),
      (_, value: { _type?: string } | null) =>
        value?._type === 'EVALUATION'
          ? { ...value, uid: { _type: 'HIER_OBJECT_ID', value: 'bb015b91-68c0-460f-a458-8ef06869b53d' } }
          : value,
    ) as object;
    const { uid } = await documents.commit(content as never);
    const before = (await documents.get(uid))!.content as unknown as Record<string, unknown>;
    await web.open(`/patients/${ehr.id}/form?uid=${encodeURIComponent(uid)}`);
    const count = web.page.getByLabel('count', { exact: true }).first();
    await count.waitFor();
    expect(await count.inputValue()).toBe('10');
    await count.fill('12');
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Version 2', { exact: true }).waitFor();
    const after = (await documents.get(uid.split('::')[0]!))!.content as unknown as Record<string, unknown>;
    const wanted = JSON.stringify(before).replace(
      '{"_type":"DV_COUNT","magnitude":10}',
      '{"_type":"DV_COUNT","magnitude":12}',
    );
    expect(wanted).toContain('https://guide.example/1');
    expect({ ...after, uid: null }).toEqual({ ...(JSON.parse(wanted) as object), uid: null });
  });

  it('of a persistent document stays without a context that nobody gave it', async () => {
    const { ehr, documents } = await recordOf(PERSISTENT);
    const { uid } = await documents.commit({
      ...(fixtureJson(`composition/${PERSISTENT}.json`) as object),
      uid: undefined,
    });
    const before = (await documents.get(uid))!.content as unknown as Record<string, unknown>;
    expect(before['context']).toBeUndefined();
    await web.open(`/patients/${ehr.id}/form?uid=${encodeURIComponent(uid)}`);
    const save = web.page.getByRole('button', { name: 'Save', exact: true });
    await save.waitFor();
    await web.page.locator('form textarea, form input[type=text]').last().press('End');
    await web.page.keyboard.type('x');
    await web.page.getByRole('button', { name: 'Save as draft' }).click();
    await web.page.getByText('Version 2', { exact: true }).waitFor();
    const after = (await documents.get(uid.split('::')[0]!))!.content as unknown as Record<string, unknown>;
    expect(after['context']).toBeUndefined();
  });
});

inBrowser('a document that is made here (skipped where no Chromium is installed)', () => {
  const web = useConsole({ consoleTerritory: 'AT' });

  it('is of the country of the server, whatever language its reader speaks', async () => {
    const client = new Cdr({ url: web.url });
    const ehr = await client.ehr.create({});
    await web.open(`/patients/${ehr.id}/form?template=ehrbase_blood_pressure_simple.de.v0`);
    await web.page.getByLabel(/Syst/).first().fill('120');
    await web.page.getByLabel('Composer').first().fill('Ada Moe');
    await web.page.getByRole('button', { name: 'Save as draft' }).click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    const { rows } = await client.query<{ country: string }>(
      'SELECT c/territory/code_string AS country FROM EHR e CONTAINS COMPOSITION c',
      { ehrId: ehr.id },
    );
    expect(rows).toEqual([{ country: 'AT' }]);
  });
});
