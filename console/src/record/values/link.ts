import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import type { Speech, ValueText } from './value-reader.js';

const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
/** `ehr://system/<ehr id>/compositions/<uid>`, with what may be left out of it. */
const DOCUMENT = new RegExp(`^ehr:(?://[^/]*)?/?(${UUID})/(?:compositions?/)?(${UUID}(?:::[^/]+::\\d+)?)`);

/** Where an address leads that a browser may follow safely, or a view of this console; null: nowhere. */
export function linkOf(address: string): string | null {
  const [, ehrId, uid] = DOCUMENT.exec(address) ?? [];
  if (ehrId !== undefined && uid !== undefined)
    return `#/patients/${ehrId}/compositions/${encodeURIComponent(uid)}`;
  if (/^(https?:\/\/|mailto:)\S+$/i.test(address)) return address;
  // As people write an address of the web.
  return /^www\.[^\s/]+\.\S+$/i.test(address) ? `https://${address}` : null;
}

/** DV_URI, DV_EHR_URI. */
export function saidUri(value: Json): ValueText {
  const address = textAt(value, 'value');
  const link = linkOf(address);
  return { text: address, ...(link !== null && { link }) };
}

/** LINK: what it means, what kind it is beside it, and where it leads. */
export function saidLink(value: Json, { say }: Speech): ValueText {
  const target = say(at(value, 'target'));
  const [meaning, type] = [textAt(value, 'meaning', 'value'), textAt(value, 'type', 'value')];
  return {
    ...target,
    text: meaning === '' ? target.text : `${meaning}: ${target.text}`,
    ...(type !== '' && { notes: [type] }),
  };
}
