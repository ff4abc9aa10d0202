import { en, type Catalogue } from './en.js';
import { later } from './later.en.js';

/** All of English: `en`, which the first page has, gets the rest as soon as a page is loaded (`shell/router.tsx`). */
export const english: Catalogue = Object.assign(en, later);
