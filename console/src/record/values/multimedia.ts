import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { linkOf } from './link.js';
import { numeral } from './quantity.js';
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
    typeof size === 'number' ? sizeText(size, language) : '',
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

function sizeText(bytes: number, language: string): string {
  if (bytes < 1_000) return `${numeral(bytes, language)} B`;
  const isLarge = bytes >= 1_000_000;
  return `${numeral(bytes / (isLarge ? 1_000_000 : 1_000), language, 1)} ${isLarge ? 'MB' : 'kB'}`;
}
