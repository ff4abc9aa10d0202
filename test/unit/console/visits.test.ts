import { describe, expect, it } from '@jest/globals';
import { deedOf, visitsOf } from '../../../console/src/record/visits.js';
import { english as en } from '../../../console/src/messages/english.js';
import { everyOperation } from '../../../src/operation-table.js';

const record = (operation: string, minute: number, more: object = {}) => ({
  time: new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString(),
  user: 'clara',
  operation,
  status: 200,
  request_id: 'r',
  address: '10.0.0.1',
  ehr_id: 'e1',
  ...more,
});

describe('who did what', () => {
  it('is said in a word for each operation that the audit notes', () => {
    const silent = everyOperation()
      .groups.flatMap(({ operations }) => operations)
      .filter(({ audit }) => audit !== 'none')
      .filter(({ id }) => deedOf(record(id, 0)) === null)
      .map(({ id }) => id);
    // Answered 501: named as they are.
    expect(silent).toEqual(['updateEhr', 'updateContribution', 'deleteContribution']);
  });

  it('has a message for each word', () => {
    const words = everyOperation()
      .groups.flatMap(({ operations }) => operations)
      .flatMap(({ id }) => deedOf(record(id, 0)) ?? []);
    for (const word of [...words, 'planned']) expect(Object.keys(en)).toContain(`deed.${word}`);
  });

  it('is one visit while the pause is short, of one person, one record and one machine', () => {
    const visits = visitsOf([
      record('composition_get', 59),
      record('composition_get', 30),
      record('query_execute_adhoc_post', 29, { status: 403 }),
      record('composition_get', 28, { user: 'ben' }),
      record('composition_get', 27, { ehr_id: 'e2' }),
      record('composition_update', 25),
      record('composition_get', 20),
    ]);
    expect(visits.map(({ user, ehrId, from, to, refused }) => [user, ehrId, from, to, refused])).toEqual([
      ['clara', 'e1', '2026-01-01T12:59:00.000Z', '2026-01-01T12:59:00.000Z', 0],
      ['clara', 'e1', '2026-01-01T12:20:00.000Z', '2026-01-01T12:30:00.000Z', 1],
      ['ben', 'e1', '2026-01-01T12:28:00.000Z', '2026-01-01T12:28:00.000Z', 0],
      ['clara', 'e2', '2026-01-01T12:27:00.000Z', '2026-01-01T12:27:00.000Z', 0],
    ]);
    expect(visits[1]?.deeds.map(({ deed, count }) => [deed, count])).toEqual([
      ['read', 2],
      ['queried', 1],
      ['changed', 1],
    ]);
    expect(visitsOf([])).toEqual([]);
  });

  it('does not take a search for a record that was opened, nor a look for drafts for one that was typed', () => {
    const words = (...ids: readonly string[]) => ids.map((id) => deedOf(record(id, 0)));
    expect(words('ehr_find', 'listEhrs', 'ehr_get_by_subject')).toEqual(['searched', 'searched', 'opened']);
    expect(words('draft_list', 'draft_get', 'draft_save', 'draft_delete')).toEqual([
      'readDrafts',
      'readDrafts',
      'typed',
      'discarded',
    ]);
  });

  it('tells a plan from what was done', () => {
    expect([deedOf(record('confirmMerge', 0, { dry_run: true })), deedOf(record('confirmMerge', 0))]).toEqual(
      ['planned', 'merged'],
    );
  });
});
