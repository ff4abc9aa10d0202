import { access } from './access.en.js';
import { administration } from './administration.en.js';
import { attributes } from './attributes.en.js';
import { deeds } from './deeds.en.js';
import { differences } from './differences.en.js';
import { findings } from './findings.en.js';
import { hints } from './hints.en.js';
import { marks } from './marks.en.js';
import { policies } from './policies.en.js';

/** What pages say and the first one, with sign-in and menu, does not: loaded with the first of them. In English. */
export const later = {
  ...access,
  ...administration,
  ...attributes,
  ...deeds,
  ...differences,
  ...findings,
  ...hints,
  ...marks,
  ...policies,
} as const;
