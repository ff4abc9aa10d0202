import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Gate } from '../../change/approval/gate.js';
import { storeCategories } from '../../change/policy/categories.js';
import type { CategoryVersionDoc } from '../../models/category.js';
import { templateIds } from '../../models/definition/template.js';
import type { CategoriesAct } from '../../models/waiting-request.js';
import type { PolicyChanging } from './policy-change.js';

/** Changes the map of categories, and gives what that answers. @throws as the change; conflict while there is none */
export async function changeCategories(
  { categories }: CategoriesAct,
  changing: PolicyChanging | undefined,
  gate?: Gate,
): Promise<JsonObject> {
  if (changing === undefined) throw new TypeError('who changes categories says by which rules');
  const { settings, by, follows = null } = changing;
  // It may have been asked for before the mode was changed.
  if (settings.accessMode === 'off')
    throw new CdrError('conflict', 'there are no categories here (ACCESS_MODE is off)');
  return categoriesView(await storeCategories(categories, { by, follows }, gate));
}

/** AccessCategories, as they are answered: with the templates that they name and that are not here, which may be mistakes. */
export async function categoriesView(doc: CategoryVersionDoc | null): Promise<JsonObject> {
  if (doc === null) return { version: 0, categories: [] };
  const named = doc.categories.flatMap(({ templates }) => templates);
  const stored = named.length === 0 ? new Set<string>() : new Set(await templateIds());
  const unknown = [...new Set(named)].filter((id) => !stored.has(id));
  return { ...categoryVersionView(doc), ...(unknown.length > 0 && { unknown_templates: unknown }) };
}

/** One version of them. */
export function categoryVersionView(doc: CategoryVersionDoc): JsonObject {
  const { version, time, by, confirmed_by: second } = doc;
  const categories = doc.categories.map(({ name, templates, archetypes }) => ({
    name,
    templates: [...templates],
    archetypes: [...archetypes],
  }));
  return {
    version,
    categories,
    time: formatUtc(time),
    by,
    ...(second !== undefined && { confirmed_by: second }),
  };
}
