import { CdrError } from '../../openehr/base/errors.js';
import { inRestore } from './restored-state.js';
import type { StoredDocument } from '../../models/access/documents.js';
import { holdPolicies } from '../../models/access-numbers.js';
import { insertCategoryVersion, newestCategories, type CategoryVersionDoc } from '../../models/category.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { malformed } from './line-parts.js';
import type { RestoreHow } from './part.js';

const MEMBERS = new Set(['_id', 'version', 'categories', 'time', 'by', 'sub', 'iss', 'confirmed_by']);

/**
 * Restores a version of the map of categories, which is the newest then. docs/spec/interchange.md#lines
 * @throws invalid for what is none; conflict when those before it are not here; unprocessable for who may not change policies
 */
export async function restoreCategories(how: RestoreHow, document: StoredDocument): Promise<void> {
  const doc = categoriesOf(document);
  if (how.changesPolicies === false)
    throw new CdrError(
      'unprocessable',
      'categories are restored with the permission admin only, and with --local where it takes two persons (FOUR_EYES)',
    );
  await inRestore(how.batch, async (session) => {
    await holdPolicies(session);
    const count = (await newestCategories())?.version ?? 0;
    if (count + 1 !== doc.version)
      throw new CdrError(
        'conflict',
        `categories have ${count} versions here, and ${doc._id} stands behind another one`,
      );
    await insertCategoryVersion(doc);
    const restored = { reason: 'restore', batch: how.batch } as const;
    await noteStates(session, { collection: 'category_versions', ids: [doc._id], ...restored });
  });
}

/** @throws invalid */
function categoriesOf(document: StoredDocument): CategoryVersionDoc {
  const { _id: id, version, categories, time, by, sub, iss, confirmed_by } = document;
  const isWhole =
    [by, sub ?? '', iss ?? '', confirmed_by ?? ''].every((one) => typeof one === 'string') &&
    id === `categories::${String(version)}` &&
    Number.isSafeInteger(version) &&
    time instanceof Date &&
    Array.isArray(categories) &&
    categories.every((each) => isCategory(each)) &&
    Object.keys(document).every((name) => MEMBERS.has(name));
  if (!isWhole) throw malformed(`document ${id} is no version of the categories`);
  return document as unknown as CategoryVersionDoc;
}

function isCategory(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, templates, archetypes, ...rest } = value as Readonly<Record<string, unknown>>;
  return (
    typeof name === 'string' && isTexts(templates) && isTexts(archetypes) && Object.keys(rest).length === 0
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
