import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { valueText } from '../../record/value-text.js';

/** Pictures that a browser draws without running anything in them. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A data value in words; its code or written form on hover. */
export function Value({ value }: { readonly value: Json }): ReactNode {
  const { language } = useMessages();
  const { text, unit, detail, isNumber = false } = valueText(value, language);
  const picture = pictureOf(value);
  if (picture !== null) return <img className="picture" src={picture} alt={text} />;
  const shown = (
    <span className={isNumber ? 'number' : 'text'}>
      {isNumber ? <span className="digits">{text}</span> : text}
      {unit !== undefined && <span className="unit"> {unit}</span>}
    </span>
  );
  return detail === undefined || detail === '' || detail === text ? (
    shown
  ) : (
    <Tooltip label={detail}>{shown}</Tooltip>
  );
}

function pictureOf(value: Json): string | null {
  const type = textAt(value, 'media_type', 'code_string');
  const data = textAt(value, 'data');
  const isPicture = textAt(value, '_type') === 'DV_MULTIMEDIA' && PICTURES.includes(type);
  return isPicture && /^[\w+/=\s]+$/.test(data) ? `data:${type};base64,${data}` : null;
}
