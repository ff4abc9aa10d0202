import { categoryMap, NO_CATEGORIES, type Category, type CategoryMap } from '../policy/categories.js';
import { collection, number, opaque, text, type DocumentOf } from './access/collection.js';
import { COLLECTIONS } from './access/layout.js';
import { MADE } from './policy.js';

const CATEGORY_VERSION = {
  /** `categories::<number of the version>`. */
  _id: text,
  version: number,
  /** All that there were then. */
  categories: opaque<readonly Category[]>(),
  ...MADE,
};

/** One version of the map of categories, of which the newest holds. Fields: docs/spec/storage.md#other-collections. */
export type CategoryVersionDoc = DocumentOf<typeof CATEGORY_VERSION>;

const CategoryVersion = collection(COLLECTIONS.categoryVersions, CATEGORY_VERSION);

/** The newest version; null where none was ever stored. Joins the caller's transaction. */
export function newestCategories(): Promise<CategoryVersionDoc | null> {
  return CategoryVersion.findOne({}).sort({ version: -1 }).exec();
}

/** Every version, the oldest first. */
export function categoryVersions(): Promise<CategoryVersionDoc[]> {
  return CategoryVersion.find().sort({ version: 1 }).exec();
}

/** Stores a version, as the newest one. Joins the caller's transaction. */
export async function insertCategoryVersion(doc: CategoryVersionDoc): Promise<void> {
  await CategoryVersion.create([doc]);
}

/** The categories as they are stored now. Joins the caller's transaction. */
export async function storedCategories(): Promise<CategoryMap> {
  const newest = await newestCategories();
  last = newest === null ? NO_CATEGORIES : categoryMap(newest.categories);
  return last;
}

/** What was read last: good for what is told of what was read or written, for policies read it when a request begins. */
export function lastCategories(): CategoryMap {
  return last;
}

let last: CategoryMap = NO_CATEGORIES;
