import type { Finding } from '../../base/violation.js';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { typeOf } from '../../rm/access.js';
import { codedNameOf } from '../opt/constraint-text.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { codePhraseFinding, type CodeExpectation } from './code-check.js';
import type { ValueCheck } from './value-check.js';
import { counted } from '../../base/work.js';

/** What the name of a node must be that must be a DV_CODED_TEXT; null where the template does not ask for one. */
export function nameExpectation(node: WebTemplateNode): CodeExpectation | null {
  const coded = codedNameOf(node.constraint);
  if (coded === null) return null;
  const codes = node.nameCode === null ? coded.codes : [node.nameCode.code];
  return {
    terminologyId: coded.terminologyId,
    codes: codes.length === 0 ? null : new Map(counted(codes).map((code) => [code, new Set<string>()])),
  };
}

/** The check of such a name (docs/spec/formats.md#template-rules). */
export function nameCheck(node: WebTemplateNode): ValueCheck | null {
  const expected = nameExpectation(node);
  if (expected === null) return null;
  return ({ name }) => (isJsonObject(name) ? violations(name, expected) : []);
}

function violations(name: JsonObject, expected: CodeExpectation): readonly Finding[] {
  if (typeOf(name) !== 'DV_CODED_TEXT') {
    const message = `Expected a DV_CODED_TEXT but got ${typeOf(name)} (name)`;
    const types = { expected: ['DV_CODED_TEXT'], found: typeOf(name) };
    return [{ code: 'wrong-type', message, ...types, attribute: 'name' }];
  }
  const found = codePhraseFinding(name.defining_code, expected, 'DV_CODED_TEXT/defining_code');
  return found === null ? [] : [{ ...found, message: `${found.message} (name)`, attribute: 'name' }];
}
