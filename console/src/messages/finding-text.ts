import type { Violation } from '@everchart/client';
import { asText, isObject } from '../api/json.js';
import type { MessageKey } from './en.js';
import { english } from './english.js';
import type { Translate } from './translate.js';

/** Values that a finding names. */
const MOST_VALUES = 8;

/** A finding of the server in the language of the reader: by its code, for its text is English. What has no code stays as it is. */
export function findingText(
  { code, message, expected = [], found }: Violation,
  { language, t }: { readonly language: string; readonly t: Translate },
): string {
  const key = `finding.${code ?? ''}`;
  if (language === 'en' || !Object.hasOwn(english, key)) return message;
  const values = expected.slice(0, MOST_VALUES).map((value) => valueText(value, t));
  return [
    t(key as MessageKey),
    ...(values.length > 0 ? [t('finding.expected', { values: values.join(', ') })] : []),
    ...(asText(found) === '' ? [] : [t('finding.found', { value: asText(found) })]),
  ].join('; ');
}

function valueText(value: unknown, t: Translate): string {
  if (!isObject(value)) return String(value);
  if (value['pattern'] !== undefined) return asText(value['pattern']);
  const [lower, upper] = [value['lower'], value['upper']];
  return `${asText(lower) || '−∞'} ${t('finding.to')} ${asText(upper) || '∞'}`;
}
