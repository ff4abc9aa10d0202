import type { MessageKey } from '../../../messages/en.js';
import { english } from '../../../messages/english.js';
import type { Translate } from '../../../messages/translate.js';

/** What a ready policy does, in words; of one that has none its id. */
export function readyTitle(id: string, t: Translate): string {
  const key = `ready.${id}`;
  return Object.hasOwn(english, key) ? t(key as MessageKey) : id;
}
