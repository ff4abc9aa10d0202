import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import type { Finding } from '../../base/violation.js';
import { OPENEHR } from '../../rm/terminology/openehr.js';
import { expectedText } from '../opt/constraint-text.js';
import type { WebTemplateInput, WebTemplateListItem } from '../web-template/web-template.js';
import { counted } from '../../base/work.js';

/** What is expected of one coded value. */
export interface CodeExpectation {
  readonly terminologyId: string | null;
  /** Permitted labels by code, a label set is empty when nobody knows the label; null = any code. */
  readonly codes: ReadonlyMap<string, ReadonlySet<string>> | null;
}

/** The expectation of a `code` input, null when any code will do. */
export function codeExpectation(input: WebTemplateInput): CodeExpectation | null {
  const terminologyId = input.terminology === undefined ? null : expectedTerminology(input.terminology);
  const codes = input.list === undefined || input.listOpen === true ? null : labelsByCode(input.list);
  return terminologyId === null && codes === null ? null : { terminologyId, codes };
}

function labelsByCode(list: readonly WebTemplateListItem[]): Map<string, Set<string>> {
  const codes = new Map<string, Set<string>>();
  for (const { value, label, localizedLabels } of counted(list)) {
    const labels = codes.get(value) ?? new Set<string>();
    if (label !== undefined) labels.add(label);
    for (const text of counted(Object.values(localizedLabels ?? {}))) labels.add(text);
    codes.set(value, labels);
  }
  return codes;
}

/**
 * The `terminology_id` that a terminology text asks for, null when it names a value set
 * (docs/spec/formats.md#template-rules).
 */
export function expectedTerminology(terminology: string): string | null {
  if (terminology.startsWith('//fhir.hl7.org/')) {
    const url = /^\/\/fhir\.hl7\.org\/CodeSystem\b[^?]*\?(?:.*&)?url=([^&]+)/.exec(terminology)?.[1];
    return url === undefined ? null : decodedUrl(url);
  }
  return terminology.replace(/\?.*$/s, '');
}

/**
 * The URL of the FHIR value set that a terminology text names, null when it names none
 * (docs/spec/formats.md#template-rules).
 */
export function valueSetUrl(terminology: string): string | null {
  const url = /^\/\/fhir\.hl7\.org\/ValueSet\b[^?]*\?(?:.*&)?url=([^&]+)/.exec(terminology)?.[1];
  return url === undefined ? null : decodedUrl(url);
}

function decodedUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Null when a DV_CODED_TEXT is as expected (docs/spec/formats.md#template-rules). */
export function codedTextFinding(codedText: JsonObject, expectation: CodeExpectation): Finding | null {
  const found = codePhraseFinding(codedText.defining_code, expectation, 'DV_CODED_TEXT/defining_code');
  if (found !== null) return found;
  const labels = expectation.codes?.get(codeString(codedText.defining_code));
  const value = codedText.value;
  if (labels === undefined || labels.size === 0 || typeof value !== 'string' || labels.has(value))
    return null;
  return {
    code: 'wrong-rubric',
    message: `DV_CODED_TEXT/value does not match. expected: ${[...labels].join(' or ')}; found: ${value}`,
    expected: [...labels],
    found: value,
    attribute: 'value',
  };
}

/** The same for a CODE_PHRASE; `what` names it in the text. */
export function codePhraseFinding(
  codePhrase: JsonValue | undefined,
  { terminologyId, codes }: CodeExpectation,
  what: string,
): Finding | null {
  if (!isJsonObject(codePhrase)) return null;
  const found = terminologyOf(codePhrase);
  if (terminologyId !== null && found.toLowerCase() !== terminologyId.toLowerCase())
    return {
      code: 'wrong-terminology',
      message: `${what}/terminology_id does not match. expected: ${terminologyId}; found: ${found}`,
      expected: [terminologyId],
      found,
      attribute: what === 'CODE_PHRASE' ? 'terminology_id' : 'defining_code',
    };
  const code = codeString(codePhrase);
  if (codes === null || codes.has(code)) return null;
  return codeNotListed(what, code, [...codes.keys()], expectedText(codes.keys()));
}

/** A code that is none of the permitted ones. `what` names the class, `text` says what was expected. */
export function codeNotListed(
  what: string,
  found: string,
  expected: readonly string[],
  text: string,
): Finding {
  return {
    code: 'code-not-listed',
    message: `${what}/code_string does not match any option. found: ${found} ${text}`,
    expected,
    found,
    attribute: what === 'CODE_PHRASE' ? 'code_string' : 'defining_code',
  };
}

/** `terminology_id/value` of a CODE_PHRASE, '' when missing. */
export function terminologyOf(codePhrase: JsonValue | undefined): string {
  const terminology = isJsonObject(codePhrase) ? codePhrase.terminology_id : undefined;
  const value = isJsonObject(terminology) ? terminology.value : undefined;
  return typeof value === 'string' ? value : '';
}

/** `code_string` of a CODE_PHRASE, '' when missing. */
export function codeString(codePhrase: JsonValue | undefined): string {
  const code = isJsonObject(codePhrase) ? codePhrase.code_string : undefined;
  return typeof code === 'string' ? code : '';
}

/** Code of a DV_CODED_TEXT of the openEHR terminology, null for anything else. */
export function openehrCode(codedText: JsonValue | undefined): string | null {
  const code = isJsonObject(codedText) ? codedText.defining_code : undefined;
  return terminologyOf(code) === OPENEHR ? codeString(code) : null;
}
