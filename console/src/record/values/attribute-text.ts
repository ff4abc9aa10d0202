import type { MessageKey } from '../../messages/en.js';
import { english } from '../../messages/english.js';
import type { ValueReader } from './value-reader.js';

/** An attribute of the reference model in the words of the reader: `originating_system_audit` is `originating system audit`. */
export function attributeText(name: string, { t }: ValueReader): string {
  const key = `attribute.${name}`;
  return Object.hasOwn(english, key) ? t(key as MessageKey) : name.replaceAll('_', ' ');
}
