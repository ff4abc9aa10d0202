import { asText, at, isObject } from '../api/json.js';
import type { Json } from '../api/types.js';
import { english } from './english.js';
import type { MessageKey } from './en.js';
import type { Translate } from './translate.js';

/** What explain advises in the language of the reader: by its code, for its text is English. What has no code stays as it is. */
export function hintText(
  advice: Json,
  { language, t }: { readonly language: string; readonly t: Translate },
): string {
  const [code, message] = [asText(at(advice, 'code')), asText(at(advice, 'message'))];
  const key = `hint.${code}`;
  if (language === 'en' || !Object.hasOwn(english, key)) return message;
  const given = at(advice, 'values');
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) values[name] = asText(value);
  const text = t(key as MessageKey, values);
  if (code.startsWith('waste_')) {
    const read = t('hint.waste', values);
    return values['condition'] === undefined
      ? `${read}: ${text}`
      : t('hint.because', { read, condition: values['condition'], why: text });
  }
  return values['nearest'] === undefined
    ? text
    : `${text}; ${t('hint.nearest', { nearest: values['nearest'] })}`;
}
