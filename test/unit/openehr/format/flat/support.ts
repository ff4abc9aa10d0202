import { violationText } from '../../../../../openehr/base/violation.js';
import { CdrError } from '../../../../../openehr/base/errors.js';
import type { JsonObject } from '../../../../../openehr/base/json.js';
import { readFlat } from '../../../../../openehr/format/flat/read.js';
import { writeFlat } from '../../../../../openehr/format/flat/write.js';
import { readRm } from '../../../../../openehr/rm/read.js';
import { validateRm } from '../../../../../openehr/rm/invariants/validate.js';
import type { CompiledTemplate } from '../../../../../openehr/template/compile.js';
import { validateAgainstTemplate } from '../../../../../openehr/template/validate.js';
import { templateNames } from '../../../../support/fixture.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';

/** The time of every request of these tests. */
const NOW = new Date('2024-05-05T05:05:05.678Z');
export const NOW_TEXT = '2024-05-05T05:05:05.678000Z';

/** The template that a fixture file belongs to: the longest id that its name begins with. */
export function templateOfFile(file: string): CompiledTemplate {
  const [name] = templateNames()
    .filter((candidate) => file.startsWith(candidate))
    .sort((a, b) => b.length - a.length);
  return publicTemplate(name ?? 'conformance-ehrbase.de.v0');
}

export function read(flat: JsonObject, template: CompiledTemplate): JsonObject {
  return readFlat(flat, template, { now: NOW });
}

/** FLAT as it is written after it was read. */
export function rewritten(flat: JsonObject, template: CompiledTemplate): JsonObject {
  return writeFlat(read(flat, template), template);
}

/** All findings of reading and validating a composition. */
export function findings(composition: JsonObject, template: CompiledTemplate): readonly string[] {
  const { object, violations } = readRm(composition, 'COMPOSITION');
  if (object === null) return violations.map(violationText);
  return [
    ...validateRm(object),
    ...validateAgainstTemplate(object, template, { checkExtraNodes: true, checkContainerCardinality: false }),
  ].map(violationText);
}

/** The message with which FLAT is refused as `invalid`. */
export function refusal(flat: JsonObject, template: CompiledTemplate): string {
  try {
    read(flat, template);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return error.message;
    throw error;
  }
  throw new Error('the keys were accepted');
}

/** The value at a path of attributes and positions, undefined where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) found = (found as Record<string | number, unknown> | undefined)?.[step];
  return found;
}
