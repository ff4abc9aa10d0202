import { Text, Tooltip, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Json } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { pictureOf } from '../../record/values/multimedia.js';
import type { ValueFlag, ValueText } from '../../record/values/value-reader.js';
import { valueText } from '../../record/values/value-text.js';

/**
 * A data value in words, that it is not normal, and what is said beside it; its code or written form on hover and for screen
 * readers.
 */
export function Value({ value }: { readonly value: Json }): ReactNode {
  const said = valueText(value, useMessages());
  const picture = pictureOf(value);
  const { detail = '', flag, notes = [], text } = said;
  return (
    <>
      {picture !== null && <img className="picture" src={picture} alt={text} />}
      {detail === '' || detail === text ? (
        <Said said={said} />
      ) : (
        <>
          <Tooltip label={detail}>
            <span>
              <Said said={said} />
            </span>
          </Tooltip>
          <VisuallyHidden>{` (${detail})`}</VisuallyHidden>
        </>
      )}
      {flag !== undefined && <Flag flag={flag} />}
      {notes.length > 0 && (
        <Text span size="sm" c="dimmed" className="notes">
          {notes.join(' · ')}
        </Text>
      )}
    </>
  );
}

function Said({
  said: { text, unit = '', isNumber = false, link },
}: {
  readonly said: ValueText;
}): ReactNode {
  if (link !== undefined)
    return (
      <a
        href={link}
        className="text"
        {...(!link.startsWith('#') && { target: '_blank', rel: 'noreferrer noopener' })}
      >
        {text}
      </a>
    );
  return (
    <span className={isNumber ? 'number' : 'text'}>
      {isNumber ? <span className="digits">{text}</span> : text}
      {unit !== '' && <span className="unit"> {unit}</span>}
    </span>
  );
}

function Flag({ flag: { code, words, isNormal } }: { readonly flag: ValueFlag }): ReactNode {
  return (
    <Tooltip label={words}>
      <span className={isNormal ? 'normality' : 'normality is-off'}>
        {code}
        <VisuallyHidden>{` ${words}`}</VisuallyHidden>
      </span>
    </Tooltip>
  );
}
