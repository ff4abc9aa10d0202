import { describe, expect, it } from '@jest/globals';
import type { SetMark } from '@everchart/client';
import { emergencies, emergencyHeaders, recordAsked } from '../../../console/src/api/emergency.js';
import {
  aboutOf,
  markOf,
  marksIn,
  parted,
  unmarked,
  wrongIn,
} from '../../../console/src/pages/patient/mark-words.js';
import { reportedTime } from '../../../console/src/pages/patient/reported-time.js';

const V1 = '/rest/openehr/v1';
const STATED = { purpose: 'BTG', reason: 'bewußtlos', since: '2026-11-28T03:00:00Z' } as const;

describe('the record that a request is about', () => {
  it('stands in its path, or in the body of a query', () => {
    expect(recordAsked(`${V1}/ehr/e1/composition/c1`, '')).toBe('e1');
    expect(recordAsked(`/below${V1}/ehr/e%201`, '')).toBe('e 1');
    expect(recordAsked('/rest/preview/e1/c1', '')).toBe('e1');
    expect(recordAsked(`${V1}/query/aql`, '{"q":"SELECT e FROM EHR e","ehr_id":"e1"}')).toBe('e1');
    expect(recordAsked(`${V1}/query/aql`, '{"q":"SELECT e FROM EHR e"}')).toBe('');
    expect(recordAsked('/rest/ehrs', '')).toBe('');
  });

  it('is none of what administration and marks answer', () => {
    for (const path of [
      '/rest/ehrs/e1/marks',
      '/rest/ehrs/e1/access',
      '/rest/admin/ehr/e1',
      '/rest/overview',
    ])
      expect(recordAsked(path, '')).toBeNull();
  });
});

describe('an emergency', () => {
  const asked: Request[] = [];
  const send = (
    path: string,
    withheld = false,
    { body, status = 200 }: { body?: string; status?: number } = {},
  ) =>
    emergencies.send(
      new Request(`http://server${path}`, body === undefined ? {} : { method: 'POST', body }),
      (request) => {
        asked.push(request);
        return Promise.resolve(
          new Response('', { status, headers: withheld ? { 'Everchart-Withheld': 'emergency' } : {} }),
        );
      },
    );
  const statedIn = (): (string | null)[] =>
    asked.splice(0).map((request) => request.headers.get('Purpose-Of-Use'));

  it('is stated by what is asked about its record, until it ends, and by nothing else', async () => {
    emergencies.begin('e1', STATED);
    for (const path of [`${V1}/ehr/e1`, `${V1}/ehr/e2`, '/rest/ehrs/e1/marks']) await send(path);
    expect(statedIn()).toEqual(['BTG', null, null]);
    expect(emergencies.of('e1')).toEqual(STATED);
    // What names its record in its body; what names none is about all, and no emergency.
    for (const path of [`${V1}/query/aql`, '/rest/print'])
      for (const body of ['{"ehr_id":"e1"}', '{"q":"SELECT e FROM EHR e"}'])
        await send(path, false, { body });
    expect(statedIn()).toEqual(['BTG', null, 'BTG', null]);
    emergencies.end('e1');
    await send(`${V1}/ehr/e1`);
    expect(statedIn()).toEqual([null]);
  });

  it('is offered where the server says that something is withheld, and to nobody who comes next', async () => {
    let told = 0;
    const end = emergencies.subscribe(() => (told += 1));
    await send(`${V1}/ehr/e3`, true);
    await send(`${V1}/ehr/e3`, true);
    expect([emergencies.isWithheld('e3'), emergencies.isWithheld('e1'), told]).toEqual([true, false, 1]);
    // A refused query does not know; one that is answered does.
    const body = '{"q":"SELECT e FROM EHR e","ehr_id":"e4"}';
    await send(`${V1}/query/aql`, true, { body, status: 404 });
    expect(emergencies.isWithheld('e4')).toBe(false);
    await send(`${V1}/query/aql`, true, { body });
    expect(emergencies.isWithheld('e4')).toBe(true);
    emergencies.begin('e3', STATED);
    emergencies.clear();
    expect([emergencies.isWithheld('e3'), emergencies.of('e3')]).toEqual([false, undefined]);
    end();
    asked.splice(0);
  });

  it('has its reason in the bytes of UTF-8', () => {
    const { 'Purpose-Of-Use-Reason': reason = '' } = emergencyHeaders(STATED);
    expect(Buffer.from(reason, 'latin1').toString('utf8')).toBe(STATED.reason);
  });
});

describe('a restriction', () => {
  const typed = {
    ...unmarked('patient_restriction'),
    ground: ' private ',
    template: 'psychiatry.v1 ',
    from: '2026-01-01',
  };

  it('has of what is typed what belongs to its scope', () => {
    expect(markOf({ ...typed, scope: 'part', organisation: '3B' })).toEqual({
      kind: 'patient_restriction',
      ground: 'private',
      template_id: 'psychiatry.v1',
      from: '2026-01-01',
      organisation: '3B',
    });
    expect(markOf(typed)).toEqual({ kind: 'patient_restriction', ground: 'private' });
    expect(markOf({ ...typed, scope: 'document', objectUid: 'c1' })).toEqual({
      kind: 'patient_restriction',
      ground: 'private',
      object_uid: 'c1',
    });
    const ofProcessing = {
      ...typed,
      kind: 'restriction_of_processing',
      scope: 'part',
      organisation: '3B',
    } as const;
    expect(markOf(ofProcessing)).toEqual({ kind: 'restriction_of_processing', ground: 'private' });
  });

  it('is not set without a ground, nor about nothing', () => {
    expect(wrongIn(typed)).toBeNull();
    expect(wrongIn({ ...typed, ground: '  ' })).toBe('ground');
    expect(wrongIn({ ...typed, scope: 'document' })).toBe('document');
    expect(wrongIn({ ...typed, scope: 'part', template: '', from: '' })).toBe('part');
    expect(wrongIn({ ...typed, scope: 'part', to: '2025-01-01' })).toBe('order');
  });

  it('is listed newest first, apart from those that were lifted', () => {
    const mark = (time: string, more: object = {}): SetMark => ({
      kind: 'research_objection',
      ground: 'g',
      time,
      by: 'root',
      ...more,
    });
    const lifted = mark('1', { lifted: { time: '3', by: 'root' } });
    const all = parted([lifted, mark('2'), mark('4')]);
    expect(all.holding.map(({ time }) => time)).toEqual(['4', '2']);
    expect(all.lifted).toEqual([lifted]);
    expect(aboutOf(mark('1', { to: '2026', template_id: 't' })).map(({ name }) => name)).toEqual([
      'template_id',
      'to',
    ]);
    expect(marksIn({ marks: [lifted] })).toEqual([lifted]);
    expect(marksIn('no')).toEqual([]);
  });
});

it('days of a report are the whole of them, and what is no day asks for nothing', () => {
  const { from = '', to = '' } = reportedTime({ from: '2026-11-28', to: '2026-11-28' });
  expect(Date.parse(to) - Date.parse(from)).toBe(24 * 3_600_000);
  expect(reportedTime({ from: '', to: '2026-1-1' })).toEqual({});
});
