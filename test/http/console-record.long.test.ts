import { describe, expect, it } from '@jest/globals';
import { Cdr } from '../../packages/client/src/main.js';
import { hasBrowser } from '../support/browser/browser.js';
import { useConsole } from '../support/browser/console.js';
import { fixtureText } from '../support/fixture.js';

const inBrowser = hasBrowser ? describe : describe.skip;

/** A length between 5 and 10 cm. */
const TEMPLATE = 'Test_dv_quantity_property_units_constrained_with_magnitude_range.v0';

inBrowser('what a record shows of its documents (skipped where no Chromium is installed)', () => {
  const web = useConsole();
  const client = () => new Cdr({ url: web.url });
  const uploaded = () =>
    client()
      .templates.upload(fixtureText(`opt/${TEMPLATE}.opt`))
      .catch(() => TEMPLATE);

  /** A record with documents of the template, each with this quantity at this time. */
  const recordOf = async (
    values: readonly { readonly magnitude: number; readonly time: string; readonly math?: string }[],
  ) => {
    await uploaded();
    const ehr = await client().ehr.create({ subject: { namespace: 'ward', id: `r-${Math.random()}` } });
    const example = JSON.stringify(await client().templates.example(TEMPLATE));
    const uids: string[] = [];
    for (const { magnitude, time, math } of values) {
      const content = JSON.parse(example, (name, value: unknown) => {
        if (name === 'magnitude') return magnitude;
        return name === 'events'
          ? (value as object[]).slice(0, 1).map((event) => eventOf(event, time, math))
          : value;
      }) as Parameters<ReturnType<typeof client>['ehr']['create']>[0] & object;
      uids.push(
        (
          await client()
            .ehr(ehr.id)
            .compositions.commit(content as never)
        ).uid,
      );
    }
    return { ehr, uids, documents: client().ehr(ehr.id).compositions };
  };

  /** The next write of a COMPOSITION: when it was sent, and what lets it through. */
  const heldWrite = async () => {
    let send: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => (send = resolve));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await web.page.route('**/composition/**', async (route) => {
      if (route.request().method() !== 'PUT') return route.continue();
      send();
      await released;
      return route.continue();
    });
    return { began: sent, release };
  };

  it('lists what was deleted, from where it is restored', async () => {
    const { ehr, uids, documents } = await recordOf([
      { magnitude: 6, time: '2026-03-01T08:00:00Z' },
      { magnitude: 7, time: '2026-03-02T08:00:00Z' },
    ]);
    await documents.delete(uids[1]!);
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('1 of 1 compositions').waitFor();
    await web.page.getByText('Deleted compositions (1)').click();
    const deleted = web.page.locator('details .composition-list li');
    await deleted.getByText('deleted', { exact: true }).waitFor();
    await web.expectGood();
    await deleted.getByRole('link').click();
    await web.page.getByText('This composition was deleted').waitFor();
    await web.page.getByRole('button', { name: 'Restore' }).click();
    await web.page.getByText('A new version will hold this content.').waitFor();
    await web.page.getByRole('button', { name: 'Restore' }).click();
    await web.page.getByText('Version 3', { exact: true }).waitFor();
    await web.page.goBack();
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('2 of 2 compositions').waitFor();
    expect(await web.page.getByText(/^Deleted compositions/).count()).toBe(0);
  });

  it('leaves who went on before he had an answer where he is', async () => {
    const { ehr, uids, documents } = await recordOf([{ magnitude: 6, time: '2026-03-01T08:00:00Z' }]);
    await documents.delete(uids[0]!);
    await web.open(`/patients/${ehr.id}/compositions/${uids[0]!.split('::')[0]}`);
    const { began, release } = await heldWrite();
    await web.page.getByRole('button', { name: 'Restore' }).click();
    await web.page.getByRole('button', { name: 'Restore' }).click();
    await began;
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('Deleted compositions (1)').waitFor();
    release();
    // What is shown there is of now.
    await web.page.getByText('1 of 1 compositions').waitFor();
    await web.page.waitForLoadState('networkidle');
    expect(new URL(web.page.url()).hash).toBe(`#/patients/${ehr.id}`);
  });

  it('has nothing of one patient in the form of another, whichever way one comes there', async () => {
    const names = ['one', 'other'].map((name) => `${name}-${Math.random()}`);
    const [one, other] = await Promise.all(
      names.map((id) => client().ehr.create({ subject: { namespace: 'ward', id } })),
    );
    const edit = web.page.getByRole('button', { name: 'Edit' });
    for (const [index, ehr] of [other!, one!].entries()) {
      await web.open(`/patients/${ehr.id}?tab=status`);
      await web.page.getByRole('heading', { name: names[1 - index]! }).waitFor();
      await edit.waitFor();
    }
    await edit.click();
    const namespace = web.page.getByLabel('Namespace of the subject');
    await namespace.fill('elsewhere');
    const sent: string[] = [];
    web.page.on('request', (request) => request.method() === 'PUT' && sent.push(request.url()));
    await namespace.press('Enter');
    await web.open(`/patients/${other!.id}?tab=status`);
    await web.page.getByRole('heading', { name: names[1]! }).waitFor();
    await edit.waitFor();
    expect(await namespace.count()).toBe(0);
    expect(sent).toEqual([]);
  });

  it('changes back nothing of a status that somebody changed meanwhile, and says so', async () => {
    const { id } = await client().ehr.create({ subject: { namespace: 'ward', id: `s-${Math.random()}` } });
    await web.open(`/patients/${id}?tab=status`);
    await web.page.getByRole('button', { name: 'Edit' }).click();
    await web.page.getByLabel('Namespace of the subject').fill('elsewhere');
    await client()
      .ehr(id)
      .status.update((now) => ({ ...now, is_queryable: false }));
    await web.page.getByRole('button', { name: 'Save', exact: true }).click();
    await web.page.getByText('Somebody else saved a newer version meanwhile').waitFor();
    await web.expectGood();
  });

  it('asks anew before another document is deleted', async () => {
    const { ehr, uids } = await recordOf([
      { magnitude: 6, time: '2026-03-01T08:00:00Z' },
      { magnitude: 7, time: '2026-03-02T08:00:00Z' },
    ]);
    const document = (value: number) =>
      web.page.locator('.document', { hasText: new RegExp(`(?<!\\d)${value}(\\.0+)? cm`) });
    for (const [index, value] of [6, 7].entries()) {
      await web.open(`/patients/${ehr.id}/compositions/${uids[index]!}`);
      await document(value).waitFor();
    }
    await web.page.getByRole('button', { name: 'Delete', exact: true }).click();
    await web.page.getByText('Every version stays').waitFor();
    await web.page.goBack();
    await document(6).waitFor();
    await web.page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
    expect(await web.page.getByText('Every version stays').count()).toBe(0);
  });

  it('marks drafts, shows them alone, and draws nothing of what they say', async () => {
    const { ehr, documents } = await recordOf([
      { magnitude: 6, time: '2026-03-01T08:00:00Z' },
      { magnitude: 7, time: '2026-03-02T08:00:00Z' },
    ]);
    const newest = (await documents.get((await firstUid(ehr.id))!))!.content as unknown as object;
    await documents.commit({ ...newest, uid: undefined }, { lifecycle: '553' });
    await web.open(`/patients/${ehr.id}`);
    await web.page.getByText('3 of 3 compositions').waitFor();
    await web.page.getByText('n = 2').first().waitFor();
    expect(await web.page.getByText('n = 3').count()).toBe(0);
    await web.page.getByText('What drafts say is not drawn.').waitFor();
    await web.page
      .getByRole('img', { name: /^Timeline of 3 compositions of 1 templates, drafts: 1$/ })
      .waitFor();
    expect(await web.page.locator('.composition-list').getByText('draft', { exact: true }).count()).toBe(1);
    await web.page.getByLabel('Drafts only (1)').check();
    await web.page.getByText('1 of 3 compositions').waitFor();
    await web.expectGood();
    await web.page.locator('.composition-list a').click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await web.page.goBack();
    await web.page.getByText('1 of 3 compositions').waitFor();
  });

  it('draws the maxima of an interval apart from values of moments, and keeps what is drawn in the address', async () => {
    const { ehr } = await recordOf([
      { magnitude: 6, time: '2026-03-01T08:00:00Z' },
      { magnitude: 7, time: '2026-03-02T08:00:00Z' },
      { magnitude: 9, time: '2026-03-03T08:00:00Z', math: 'maximum' },
    ]);
    await web.open(`/patients/${ehr.id}`);
    const trend = (name: RegExp) => web.page.locator('.trend', { hasText: name }).first();
    const [moments, maxima] = [trend(/n = 2/), trend(/maximum · 24 h/)];
    await moments.getByText(/^7\b/).waitFor();
    await maxima.getByText(/^9\b/).waitFor();
    await moments.click();
    await maxima.click();
    expect([await moments.getAttribute('aria-pressed'), await maxima.getAttribute('aria-pressed')]).toEqual([
      'true',
      'true',
    ]);
    await web.expectGood();
    await web.page.locator('.composition-list a').first().click();
    await web.page.getByText('Version 1', { exact: true }).waitFor();
    await web.page.goBack();
    await maxima.waitFor();
    expect(await maxima.getAttribute('aria-pressed')).toBe('true');
  });

  it('offers invented values in no form of a patient who is named', async () => {
    await uploaded();
    const named = await client().ehr.create({ subject: { namespace: 'ward', id: `n-${Math.random()}` } });
    const nobody = await client().ehr.create({});
    const example = web.page.getByRole('button', { name: 'Fill with example' });
    await web.open(`/patients/${nobody.id}/form?template=${TEMPLATE}`);
    await example.waitFor();
    await web.open(`/patients/${named.id}/form?template=${TEMPLATE}`);
    await web.page.getByText(/^n-0/).first().waitFor();
    await web.page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    expect(await example.count()).toBe(0);
  });

  it('asks for a part of something only where that something is there', async () => {
    const template = 'ehrbase_multi_occurrence.de.v1'; // of the demo
    const { id } = await client().ehr.create({});
    await web.open(`/patients/${id}/form?template=${template}`);
    const temperature = web.page.locator('.form-field', { hasText: /^Temperature/ }).first();
    await temperature.waitFor();
    const asterisks = temperature.locator('.mantine-InputWrapper-required');
    expect(await asterisks.count()).toBe(0);
    await temperature.getByRole('textbox').first().fill('38.2');
    await asterisks.waitFor();
    await web.expectGood();
  });

  it('shows beside what is typed what somebody saved meanwhile, and goes on with what is chosen', async () => {
    const { ehr, uids, documents } = await recordOf([{ magnitude: 6, time: '2026-03-01T08:00:00Z' }]);
    await web.open(`/patients/${ehr.id}/form?uid=${uids[0]!}`);
    const quantity = web.page.getByLabel('MY_DV_QUANTITY').first();
    await quantity.fill('9');
    const changed = { magnitude: 7, composer: 'Clara Moe' };
    await documents.update(uids[0]!, (now) => {
      const text = JSON.stringify(now).replace(/"magnitude":\d+/, `"magnitude":${changed.magnitude}`);
      return JSON.parse(text.replaceAll('Max Mustermann', changed.composer)) as never;
    });
    const save = web.page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await web.page.getByText('Somebody else saved a newer version meanwhile').waitFor();
    const goOn = web.page.getByRole('button', { name: 'Go on from the newer version' });
    await web.page.getByRole('row', { name: /Max Mustermann.*Clara Moe/ }).waitFor();
    const contested = web.page.getByRole('row', { name: /6 cm.*7 cm.*9 cm/ });
    expect(await goOn.isDisabled()).toBe(true);
    web.forgive('412');
    await web.expectGood();
    await contested.getByText('Yours').last().click();
    await goOn.click();
    expect(await quantity.inputValue()).toBe('9');
    await save.click();
    await web.page.getByText('Version 3', { exact: true }).waitFor();
    const saved = JSON.stringify((await documents.get(uids[0]!.split('::')[0]!))?.content);
    expect(saved).toContain('"magnitude":9');
    expect(saved).toContain(changed.composer);
  });

  const firstUid = async (ehrId: string): Promise<string | undefined> =>
    (
      await client().query<{ uid: string }>('SELECT c/uid/value AS uid FROM EHR e CONTAINS COMPOSITION c', {
        ehrId,
      })
    ).rows[0]?.uid;
});

/** An event at a time; with a function, an interval of a day that ends then. */
function eventOf(event: object, time: string, math?: string): object {
  const at = { _type: 'DV_DATE_TIME', value: time };
  if (math === undefined) return { ...event, _type: 'POINT_EVENT', time: at };
  const code = { _type: 'CODE_PHRASE', terminology_id: { value: 'openehr' }, code_string: '144' };
  return {
    ...event,
    _type: 'INTERVAL_EVENT',
    time: at,
    width: { _type: 'DV_DURATION', value: 'PT24H' },
    math_function: { _type: 'DV_CODED_TEXT', value: math, defining_code: code },
  };
}
