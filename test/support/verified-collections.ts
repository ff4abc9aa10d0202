import { readFileSync } from 'node:fs';
import { COLLECTION_LAYOUT, type CollectionName } from '../../models/access/layout.js';

const PAGE =
  readFileSync('docs/security.md', 'utf8').split('## What verify does not find')[1]?.split('\n## ')[0] ?? '';

/** Collections of which nothing is found, as the page says in the first column of its table. */
export const UNVERIFIED: ReadonlySet<string> = new Set(
  [...PAGE.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!),
  ),
);

/** Collections of which something is found: all others. */
export const VERIFIED: readonly CollectionName[] = COLLECTION_LAYOUT.map(({ name }) => name).filter(
  (name) => !UNVERIFIED.has(name),
);
