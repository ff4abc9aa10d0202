import type { AuditSubject } from '../../models/audit.js';
import type { VersionDoc } from '../../models/version.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import { originOf } from '../../policy/attributes.js';
import { categoriesOf } from '../../policy/categories.js';
import { lastCategories } from '../../models/category.js';

/** Versions of one request whose content is looked at: of more the first. */
export const LOOKED_AT = 100;

/** Characters of content that is parsed for it: what is larger would keep others waiting. */
export const MOST_TEXT = 1_000_000;

/**
 * Of what kind content is, for the audit: templates, categories (of the map and openEHR's own), and the systems that it came from. Parses it: only where the record
 * tells kinds. docs/access-log.md#the-record
 */
export function contentKinds(
  versions: readonly Pick<VersionDoc, 'data' | 'template_id'>[],
): Pick<AuditSubject, 'templates' | 'categories' | 'origins'> {
  const templates = new Set<string>();
  const categories = new Set<string>();
  const origins = new Set<string>();
  for (const { data, template_id: templateId } of versions.slice(0, LOOKED_AT)) {
    const content = data === null || data.length > MOST_TEXT ? {} : (JSON.parse(data) as JsonObject);
    const template = templateId ?? textAt(content, 'archetype_details', 'template_id', 'value');
    if (template !== undefined) templates.add(template);
    const origin = originOf(content);
    for (const category of categoriesOf({ templateId: template, content }, lastCategories()))
      categories.add(category);
    if (origin !== undefined) origins.add(origin);
  }
  return {
    ...(templates.size > 0 && { templates: [...templates] }),
    ...(categories.size > 0 && { categories: [...categories] }),
    ...(origins.size > 0 && { origins: [...origins] }),
  };
}
