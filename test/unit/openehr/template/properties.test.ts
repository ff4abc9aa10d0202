import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../../openehr/base/errors.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { validateAgainstTemplate } from '../../../../openehr/template/validate.js';
import { fixtureText, templateNames } from '../../../support/fixture.js';
import { validate } from '../../../support/openehr/stages.js';
import { compositionsOf, mutatedCompositionsOf } from '../../../support/openehr/template-compositions.js';
import { publicTemplate } from '../../../support/openehr/templates.js';

const names = templateNames();
const STRICT = { checkExtraNodes: true, checkContainerCardinality: true };

describe('compositions that are made from a template', () => {
  it.each(names)('are valid and read as they are: %s', (name) => {
    const template = publicTemplate(name);
    fc.assert(
      fc.property(compositionsOf(template), (composition) => {
        expect(validate(composition, () => template)).toEqual({ status: 201, violations: [] });
        expect(readRm(composition, 'COMPOSITION').object).toEqual(composition);
      }),
      { numRuns: 25 },
    );
  });

  it.each(names)('are validated without any exception after changes: %s', (name) => {
    const template = publicTemplate(name);
    fc.assert(
      fc.property(mutatedCompositionsOf(template), fc.boolean(), (composition, lenient) => {
        const { status, violations } = validate(composition, () => template, lenient);
        expect(status === 201).toBe(violations.length === 0);
        for (const violation of violations) expect(violation).toMatch(/^(?:\/|Composition missing)/);
        // Validation does not rely on the stages before it.
        validateAgainstTemplate(composition, template, STRICT);
      }),
      { numRuns: 60 },
    );
  });
});

const change = fc.record({
  start: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat({ max: 200 }),
  kind: fc.constantFrom('cut', 'repeat', 'insert', 'swap'),
  text: fc.constantFrom(
    '',
    '<',
    '</attributes>',
    '<children/>',
    'DV_QUANTITY',
    'C_DV_STATE',
    '&#0;',
    '-1',
    '*',
    '99999999',
  ),
});

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

describe('templates after changes to their text', () => {
  const small = names.filter((name) => fixtureText(`opt/${name}.opt`).length < 40_000);
  function changed(text: string, { start, length, kind, text: inserted }: Change): string {
    const from = Math.floor(start * text.length);
    const [before, part, after] = [
      text.slice(0, from),
      text.slice(from, from + length),
      text.slice(from + length),
    ];
    if (kind === 'cut') return before + after;
    if (kind === 'repeat') return before + part + part + after;
    if (kind === 'insert') return before + inserted + part + after;
    return text.replaceAll(/>([^<>\s]+)</g, (match, _value, offset: number) =>
      Math.abs(offset - from) < length ? `>${inserted}<` : match,
    );
  }

  it('are compiled or refused as invalid, nothing else', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...small),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (name, changes) => {
          const text = changes.reduce(changed, fixtureText(`opt/${name}.opt`));
          try {
            JSON.parse(compileTemplate(text).webTemplateText.toString());
          } catch (error) {
            if (!(error instanceof CdrError)) throw error;
            expect(error.code).toBe('invalid');
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
