import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureJson, fixtureText } from '../support/fixture.js';

const inBrowser = hasBrowser ? describe : describe.skip;
const TEMPLATE = 'test_all_types.en.v1';

const text = (value: string) => ({ _type: 'DV_TEXT', value });
const uri = (value: string) => ({ _type: 'DV_URI', value });
const code = (terminology: string, code_string: string) => ({
  _type: 'CODE_PHRASE',
  terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
  code_string,
});
const quantity = (magnitude: number, units: string) => ({ _type: 'DV_QUANTITY', magnitude, units });
const count = (magnitude: number) => ({ _type: 'DV_COUNT', magnitude });
const interval = (lower: object, upper: object) => ({
  _type: 'DV_INTERVAL',
  lower,
  upper,
  lower_included: true,
  upper_included: true,
  lower_unbounded: false,
  upper_unbounded: false,
});

/** By the name of an ELEMENT: what its value has in place of what the fixture says, and all that is shown of it; in brackets what stands on hover and is heard. */
const CELLS: Readonly<Record<string, readonly [stored: object, shown: readonly string[]]>> = {
  date: [{ value: '20190114' }, ['14 Jan 2019', '(20190114)']],
  'partial date': [{ value: '2019' }, ['2019']],
  'datetime any': [
    { value: '20190114T183649Z' },
    ['14 Jan 2019, 19:36:49 CET', '(20190114T183649Z)', 'stored 18:36:49 UTC'],
  ],
  time: [{ value: '183649' }, ['18:36:49', '(183649)']],
  datetime: [
    { value: '2019-01-14T18:36:49-05:00' },
    ['15 Jan 2019, 00:36:49 CET', '(2019-01-14T18:36:49-05:00)', 'stored 14 Jan 2019, 18:36:49 UTC−05:00'],
  ],
  'partial datetime': [
    { value: '2019-01-14T18:36:49' },
    ['14 Jan 2019, 18:36:49', '(2019-01-14T18:36:49)', 'zone not recorded'],
  ],
  quantity: [
    {
      ...quantity(178.1, 'mg'),
      magnitude_status: '>=',
      precision: 2,
      accuracy: 5,
      accuracy_is_percent: true,
      normal_status: code('openehr_normal_statuses', 'HH'),
      normal_range: interval(quantity(70, 'mg'), quantity(99, 'mg')),
      other_reference_ranges: [
        {
          _type: 'REFERENCE_RANGE',
          meaning: text('critical'),
          range: {
            _type: 'DV_INTERVAL',
            lower: quantity(150, 'mg'),
            lower_included: false,
            upper_included: false,
            lower_unbounded: false,
            upper_unbounded: true,
          },
        },
      ],
    },
    ['≥178.10 mg', 'HH abnormally high', '± 5 % · normal 70 – 99 · critical > 150'],
  ],
  count: [count(12_345), ['12,345']],
  ordinal: [{}, ['1 · ord1', '(local::at0015)']],
  'proportion any': [{ numerator: 97.456, denominator: 100, type: 2, precision: 1 }, ['97.5 %', '(97.456)']],
  'interval count': [
    {
      lower: undefined,
      lower_included: false,
      lower_unbounded: true,
      upper: count(234),
      upper_included: true,
    },
    ['≤ 234'],
  ],
  'interval quantity': [
    { ...interval(quantity(5, 'mm[H20]'), quantity(9, 'mm[H20]')), lower_included: false },
    ['> 5 – 9 mmH20'],
  ],
  'coded text terminology': [
    {
      value: 'Diabetes',
      mappings: [{ _type: 'TERM_MAPPING', match: '=', target: code('ICD10', 'I10') }],
    },
    ['Diabetes', '(SNOMED-CT::1004034 · = ICD10::I10)'],
  ],
  'multimedia any': [
    { uri: uri('https://pacs.example/1'), alternate_text: 'left hand' },
    ['left hand · https://pacs.example/1', 'image/jpeg', '177.6 kB'],
  ],
  uri: [uri('https://guide.example/2'), ['https://guide.example/2']],
  identifier: [{}, ['55175056', 'LOCALID · Hospital de Clinicas']],
  boolean: [{}, ['✓', '(Yes)']],
  'duration any': [{}, ['1 y 2 mo 10 d 2 h 30 min', '(P1Y2M10DT2H30M)']],
  'parsable any': [{}, ['20170629', 'ISO8601']],
};

/** What one ELEMENT can be in another way than in `CELLS`. */
const OTHERS: typeof CELLS = {
  'proportion any': [{ numerator: 42, denominator: 3, type: 3, precision: 0 }, ['42 / 3']],
  'interval count': [{ ...interval(count(5), count(9)), upper_included: false }, ['5 – < 9']],
  'interval quantity': [
    {
      ...interval(quantity(5, 'mm[H20]'), quantity(9, 'mm[H20]')),
      lower: undefined,
      lower_included: false,
      lower_unbounded: true,
      upper_included: false,
    },
    ['< 9 mmH20'],
  ],
  text: [
    { value: 'first line\nsecond line', hyperlink: uri('https://guide.example/3') },
    ['first line second line'],
  ],
};

/** The document with these values, one that is missing, and what stands beside values. */
function everyKind(cells = CELLS, ehrId = ''): object {
  const made = JSON.parse(
    JSON.stringify(fixtureJson(`composition/${TEMPLATE}.json`)),
    (_, value: unknown) => {
      const element = value as { _type?: string; name?: { value: string }; value?: object } | null;
      if (element?._type !== 'ELEMENT') return value;
      const name = element.name?.value ?? '';
      if (name === 'text 2')
        return {
          ...element,
          value: undefined,
          null_flavour: {
            _type: 'DV_CODED_TEXT',
            value: 'unknown',
            defining_code: code('openehr', '253'),
          },
          null_reason: text('asleep'),
        };
      return { ...element, value: { ...element.value, ...cells[name]?.[0] } };
    },
  ) as { context: object };
  return {
    ...made,
    uid: undefined,
    feeder_audit: (fixtureJson(`composition/${TEMPLATE}.feeder-audit.json`) as { feeder_audit?: object })
      .feeder_audit,
    context: {
      ...made.context,
      participations: [
        {
          _type: 'PARTICIPATION',
          function: text('assistant'),
          mode: {
            _type: 'DV_CODED_TEXT',
            value: 'face-to-face communication',
            defining_code: code('openehr', '216'),
          },
          performer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' },
        },
      ],
    },
    links: [
      {
        _type: 'LINK',
        meaning: text('follow-up of'),
        type: text('problem'),
        target: { _type: 'DV_EHR_URI', value: ehrId === '' ? 'ehr:tasks/1' : `ehr://here/${ehrId}/${ehrId}` },
      },
    ],
  };
}

inBrowser('every kind of value in a document (skipped where no Chromium is installed)', () => {
  const web = useConsole({}, { timezoneId: 'Europe/Berlin' });

  it('is said whole, with what is beside it, on hover and heard; nothing as JSON', async () => {
    const client = new Cdr({ url: web.url });
    await client.templates.upload(fixtureText(`opt/${TEMPLATE}.opt`)).catch(() => TEMPLATE);
    const { id } = await client.ehr.create({});
    const { uid } = await client.ehr(id).compositions.commit(everyKind() as never);
    await web.open(`/patients/${id}/compositions/${encodeURIComponent(uid)}`);
    const letter = web.page.locator('.document');
    await letter.getByText('≥178.10').first().waitFor();
    const lines = await linesOf(letter);
    for (const [name, [, shown]] of Object.entries(CELLS))
      for (const part of shown)
        expect([name, lines.get(name)]).toEqual([name, expect.stringContaining(part)]);
    // A year that is all there is stands alone.
    expect(lines.get('partial date')).toBe('2019');
    expect(lines.get('text 2')).toBe('no value: unknown (asleep)');
    const all = await letter.innerText();
    for (const part of ['assistant: Ada Moe', 'follow-up of: ehr:tasks/1', 'FHIR-bridge', '99999999'])
      expect(all).toContain(part);
    expect(all).not.toMatch(/"_type"|[{}]/);
    const link = letter.getByRole('link', { name: 'https://guide.example/2' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
      'https://guide.example/2',
      'noreferrer noopener',
    ]);
    await web.expectGood();
  });

  it('leads where it says, and keeps its lines and open ends', async () => {
    const client = new Cdr({ url: web.url });
    await client.templates.upload(fixtureText(`opt/${TEMPLATE}.opt`)).catch(() => TEMPLATE);
    const { id } = await client.ehr.create({});
    const { uid } = await client.ehr(id).compositions.commit(everyKind(OTHERS, id) as never);
    await web.open(`/patients/${id}/compositions/${encodeURIComponent(uid)}`);
    const letter = web.page.locator('.document');
    await letter.getByText('42 / 3').first().waitFor();
    const lines = await linesOf(letter);
    for (const [name, [, shown]] of Object.entries(OTHERS))
      for (const part of shown)
        expect([name, lines.get(name)]).toEqual([name, expect.stringContaining(part)]);
    const text = letter.getByRole('link', { name: /first line/ });
    expect(await text.getAttribute('href')).toBe('https://guide.example/3');
    expect(await text.innerText()).toContain('first line\nsecond line');
    const elsewhere = letter.getByRole('link', { name: /follow-up of/ });
    expect(await elsewhere.getAttribute('href')).toBe(`#/patients/${id}/compositions/${id}`);
    await web.expectGood();
  });
});

/** What stands beside each name of a document, the first of each. */
async function linesOf(letter: Locator): Promise<Map<string, string>> {
  const lines = new Map<string, string>();
  for (const line of await letter.locator('.line').all()) {
    const [label = '', value = ''] = await Promise.all(
      ['.label', '.value'].map((part) => line.locator(part).first().innerText()),
    );
    if (!lines.has(label)) lines.set(label, value.replaceAll(/\s+/g, ' ').trim());
  }
  return lines;
}
