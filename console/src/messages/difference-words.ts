import type { TemplateChange } from '@everchart/client';
import { differences } from './differences.en.js';
import type { Translate } from './translate.js';

/** How a part of a template changed. */
export function changeWords(kind: TemplateChange['kind'], t: Translate): string {
  return t(`difference.kind.${kind}`);
}

/** The part that changed; the server's own word where a newer one has more of them. */
export function partWords(what: string, t: Translate): string {
  const key = `difference.part.${what}`;
  return isKnown(key) ? t(key) : what;
}

function isKnown(key: string): key is keyof typeof differences {
  return Object.hasOwn(differences, key);
}
