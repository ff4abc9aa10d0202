import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import type { MessageKey } from '../../messages/en.js';
import type { ValueReader } from './value-reader.js';

const FLAVOURS: Readonly<Record<string, MessageKey>> = {
  253: 'null.253',
  271: 'null.271',
  272: 'null.272',
  273: 'null.273',
};

/** Why an ELEMENT has no value: `no value: unknown (the patient was asleep)`. */
export function nullText(element: Json, { t }: ValueReader): string {
  const flavour = at(element, 'null_flavour');
  const key = FLAVOURS[textAt(flavour, 'defining_code', 'code_string')];
  const why = key === undefined ? textAt(flavour, 'value') || '–' : t(key);
  const reason = textAt(element, 'null_reason', 'value');
  return t('document.missing', { why: reason === '' ? why : `${why} (${reason})` });
}
