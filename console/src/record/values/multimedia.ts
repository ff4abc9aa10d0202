import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { bytesText } from './bytes.js';
import { linkOf } from './link.js';
import type { Speech, ValueText } from './value-reader.js';

/** Pictures that a browser draws without running anything in them. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** DV_MULTIMEDIA: what stands for it in words, its kind, its size, and where it is. */
export function saidMultimedia(value: Json, { language }: Speech): ValueText {
  const [address, size] = [textAt(value, 'uri', 'value'), at(value, 'size')];
  const link = linkOf(address);
  const words = [textAt(value, 'alternate_text'), address].filter((part) => part !== '');
  const kind = textAt(value, 'media_type', 'code_string');
  const notes = [
    words.length === 0 ? '' : kind,
    typeof size === 'number' ? bytesText(size, language) : '',
    textAt(value, 'compression_algorithm', 'code_string'),
  ].filter((part) => part !== '');
  return {
    text: words.length === 0 ? kind : words.join(' · '),
    ...(link !== null && { link }),
    ...(notes.length > 0 && { notes }),
  };
}

/** A picture that stands in the record itself, as an address that a browser draws; null: there is none. */
export function pictureOf(value: Json): string | null {
  const type = textAt(value, 'media_type', 'code_string');
  const data = textAt(value, 'data');
  const isPicture = textAt(value, '_type') === 'DV_MULTIMEDIA' && PICTURES.includes(type);
  return isPicture && /^[\w+/=\s]+$/.test(data) ? `data:${type};base64,${data}` : null;
}
