import { at, items, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { linkOf } from './link.js';
import type { Speech, ValueText } from './value-reader.js';

/** DV_TEXT, DV_CODED_TEXT: the code and what it is mapped to on hover, a hyperlink to be followed. */
export function saidText(value: Json): ValueText {
  const detail = [codeOf(at(value, 'defining_code')), ...items(at(value, 'mappings')).map(mappingText)]
    .filter((part) => part !== '')
    .join(' · ');
  const link = linkOf(textAt(value, 'hyperlink', 'value'));
  return {
    text: textAt(value, 'value'),
    ...(detail !== '' && { detail }),
    ...(link !== null && { link }),
  };
}

/** DV_PARAGRAPH: its texts, each on a line of its own, with what is beside each. */
export function saidParagraph(value: Json, { say }: Speech): ValueText {
  const lines = items(at(value, 'items')).map((line) => say(line));
  const details = lines.flatMap(({ detail }) => detail ?? []);
  const notes = lines.flatMap((line) => line.notes ?? []);
  return {
    text: lines.map(({ text }) => text).join('\n'),
    ...(details.length > 0 && { detail: details.join(' · ') }),
    ...(notes.length > 0 && { notes }),
  };
}

/** CODE_PHRASE. */
export function saidCode(value: Json): ValueText {
  const term = textAt(value, 'preferred_term');
  return { text: term === '' ? textAt(value, 'code_string') : term, detail: codeOf(value) };
}

/** DV_STATE, which is coded, and times by a rule, which are parsable: what their value says. */
export function saidInner(value: Json, { say }: Speech): ValueText {
  return say(at(value, 'value'));
}

/** DV_IDENTIFIER: what kind it is and who gave it beside it. */
export function saidIdentifier(value: Json): ValueText {
  const beside = ['type', 'issuer', 'assigner'].map((name) => textAt(value, name));
  const notes = [...new Set(beside)].filter((part) => part !== '');
  return { text: textAt(value, 'id'), ...(notes.length > 0 && { notes }) };
}

/** DV_PARSABLE: in what language it is written beside it. */
export function saidParsable(value: Json): ValueText {
  const formalism = textAt(value, 'formalism');
  return { text: textAt(value, 'value'), ...(formalism !== '' && { notes: [formalism] }) };
}

/** `SNOMED-CT::1004034`; nothing where there is no code. */
function codeOf(code: Json | undefined): string {
  const text = textAt(code, 'code_string');
  return text === '' ? '' : `${textAt(code, 'terminology_id', 'value')}::${text}`;
}

function mappingText(mapping: Json): string {
  return `${textAt(mapping, 'match')} ${codeOf(at(mapping, 'target'))}`.trim();
}
