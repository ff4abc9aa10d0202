import { describe, expect, it } from '@jest/globals';
import { FUNCTION_WORDS } from '../../../aql/syntax/words.js';
import { COLLECTIONS } from '../../../models/access/layout.js';
import { violationAt } from '../../../openehr/base/violation.js';
import { COMMON_INVARIANTS, STRUCTURE_INVARIANTS } from '../../../openehr/rm/invariants/structures.js';
import { DATA_TYPE_INVARIANTS } from '../../../openehr/rm/invariants/data-types.js';
import { QUANTITY_INVARIANTS } from '../../../openehr/rm/invariants/quantities.js';
import { INSTRUCTION_TRANSITIONS } from '../../../openehr/rm/terminology/openehr.js';
import { codeWord, errorBody, ERROR_STATUS } from '../../../routes/http/failure/error-status.js';
import { everyOperation } from '../../../src/operation-table.js';
import { repositoryTexts, textOf } from './repository-text.js';

const page = (name: string): string => textOf(`docs/spec/${name}.md`);
const missing = (text: string, words: Iterable<string>): string[] =>
  [...words].filter((word) => !text.includes(word));

describe('the contract', () => {
  it('names every operation by its id', () => {
    const operations = everyOperation().groups.flatMap((group) => group.operations);
    expect(
      missing(
        page('rest') + page('merge'),
        operations.map(({ id }) => `\`${id}\``),
      ),
    ).toEqual([]);
  });

  it('names every status', () => {
    const [, table = ''] = /### Statuses\n([\s\S]*?)\n### /.exec(page('rest')) ?? [];
    expect(missing(table, new Set(Object.values(ERROR_STATUS).map(String)))).toEqual([]);
  });

  it('names every function of AQL', () => {
    expect(missing(page('aql'), FUNCTION_WORDS)).toEqual([]);
  });

  it('names every invariant of the reference model', () => {
    const invariants = [COMMON_INVARIANTS, DATA_TYPE_INVARIANTS, QUANTITY_INVARIANTS, STRUCTURE_INVARIANTS];
    expect(
      missing(
        page('formats'),
        invariants.flat().map(({ name }) => name),
      ),
    ).toEqual([]);
  });

  it('names every transition of an instruction', () => {
    expect(missing(page('formats'), INSTRUCTION_TRANSITIONS.keys())).toEqual([]);
  });

  it('names every collection', () => {
    expect(missing(page('storage'), Object.values(COLLECTIONS))).toEqual([]);
  });
});

describe('what docs/api.md says of errors', () => {
  const [, section = ''] = textOf('docs/api.md').split('\n## Errors\n');
  const codes = { ...ERROR_STATUS, internal: 500 };

  it('names every code with its status, and no other', () => {
    const named = [...section.matchAll(/^\| ([\d, ]+) \| (`[^|]+) \|/gm)].flatMap(([, statuses = '', words = '']) =>
      [...words.matchAll(/`([^`]+)`/g)].map(([, code = '']) => [code, statuses.split(', ')] as const),
    );
    const said = Object.entries(codes).map(([code, status]) => [codeWord(code as keyof typeof codes), `${status}`] as const);
    expect(named.map(([code]) => code).sort()).toEqual([...new Set(said.map(([word]) => word))].sort());
    const wrong = named.filter(([code, statuses]) =>
      said.some(([word, status]) => word === code && !statuses.includes(status)),
    );
    expect(wrong).toEqual([]);
  });

  it('names every member that a body can have', () => {
    const members = Object.keys(errorBody(422, 'no', 'unprocessable', {
      violations: [violationAt('/', 'is wrong')],
    }));
    expect(members).toHaveLength(5);
    const [text = ''] = section.split('\n| Status ');
    expect([...members, 'request_id'].filter((member) => !new RegExp(`[\`"]${member}[\`"]`).test(text))).toEqual([]);
  });
});

describe('the glossary', () => {
  const rows = textOf('docs/glossary.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Word '));

  it('explains words whose names are in the code', () => {
    const code = repositoryTexts()
      .filter(({ path }) => /\.c?ts$|\.cjs$/.test(path) && !path.startsWith('test/'))
      .map(({ text }) => text)
      .join('\n');
    const names = rows.flatMap((row) => {
      const cell = row.split(/(?<!\\)\|/).at(-2) ?? '';
      return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    });
    expect(names.length).toBeGreaterThan(60);
    expect(missing(code, names)).toEqual([]);
  });
});
