import { collapsedToken } from '../../openehr/base/text.js';

/* A template id is an xs:token: earlier releases stored it with its white space as it was written. */

/** All of them sort before `!`. */
const WHITE_SPACE = /[ \t\r\n]/;

/** Between which ids those are that may be the same xs:token as this one, of which the first word is the same; null: none can be. */
export function sameTokenRange(templateId: string): { readonly $gt: string; readonly $lt: string } | null {
  const [word = ''] = templateId.split(WHITE_SPACE, 1);
  return word === templateId ? null : { $gt: word, $lt: `${word}!` };
}

/** Whether two ids that are not written alike are the same xs:token. */
export function isSameToken(one: string, other: string): boolean {
  return one !== other && collapsedToken(one) === collapsedToken(other);
}
