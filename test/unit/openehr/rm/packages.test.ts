import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { RM_CLASSES } from '../../../../openehr/rm/model/classes.js';
import { ATTRIBUTE_DESCRIPTIONS, CLASS_DESCRIPTIONS } from '../../../../openehr/rm/model/descriptions.js';
import type { Rm, RmClassName } from '../../../../openehr/rm/model/rm.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { validateRm } from '../../../../openehr/rm/invariants/validate.js';
import * as rm from '../../../../packages/rm/src/main.js';
import { generatedFiles } from '../../../../scripts/generate/files.js';

it('the files that are made from others are as they would be made now: npm run generate', async () => {
  for (const [path, text] of await generatedFiles())
    expect([path, readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8') === text]).toEqual([
      path,
      true,
    ]);
});

it('every class is described, and nothing that is none', () => {
  expect(Object.keys(CLASS_DESCRIPTIONS).sort()).toEqual(RM_CLASSES.map(({ name }) => name).sort());
  const attributes = RM_CLASSES.flatMap(({ name, attributes: own }) =>
    own.flatMap((attribute) => [attribute.name, `${name}.${attribute.name}`]),
  );
  for (const name of Object.keys(ATTRIBUTE_DESCRIPTIONS)) expect(attributes).toContain(name);
});

it('the types of the package are those of the class table', () => {
  // The compiler checks it: the names of classes whose objects the package would not take, none.
  type Refused = { [N in RmClassName]: Rm<N> extends rm.RmClasses[N] ? never : N }[RmClassName];
  const same: [Refused] extends [never] ? true : Refused = true;
  expect(same).toBe(true);
});

const symbol = rm.dvCodedText('at1', 'x');
it.each([
  rm.dvText('a', { formatting: 'plain' }),
  rm.dvCodedText('433', 'event', 'openehr'),
  rm.dvQuantity(120, 'mm[Hg]', { precision: 0 }),
  rm.dvCount(3),
  rm.dvOrdinal(2, symbol),
  rm.dvScale(2.5, symbol),
  rm.dvProportion(97, 100, 'percent'),
  rm.dvBoolean(true),
  rm.dvDate('2026-11'),
  rm.dvDate(new Date(0)),
  rm.dvTime('08:30:00'),
  rm.dvDateTime(new Date(0)),
  rm.dvDuration('PT8H'),
  rm.dvUri('https://example.org/a'),
  rm.dvIdentifier('1', { issuer: 'i', assigner: 'a', type: 't' }),
  rm.dvParsable('R3/PT8H', 'ISO8601'),
  rm.dvMultimedia('image/png', 10, { uri: rm.dvUri('https://example.org/a.png') }),
  rm.dvInterval(rm.dvCount(1), rm.dvCount(5)),
  rm.dvInterval<rm.DV_COUNT>(undefined, rm.dvCount(5)),
  rm.ehrStatus(rm.partyRef('p1', 'hospital')),
  rm.folder('root', ['7d44b88c-4199-4bad-97dc-d78268e01398'], [rm.folder('a')]),
  rm.partyIdentified('Ada Moe', [rm.dvIdentifier('1', { issuer: 'i', assigner: 'a', type: 't' })]),
])('what a constructor makes is valid: $_type', (made) => {
  const { object, violations } = readRm(structuredClone(made) as unknown as JsonObject, made._type);
  expect([...violations, ...validateRm((object ?? {}) as JsonObject)]).toEqual([]);
});
