import Joi from 'joi';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { violationAt } from '../../openehr/base/violation.js';
import { OWN_CATEGORIES, type Category } from '../../policy/categories.js';
import { bodyOf } from '../http/exchange.js';

/** Categories of the map, and templates and archetypes of all of them together: each query that asks for one names its. */
export const MAX_CATEGORIES = 100;
export const MAX_CATEGORY_MEMBERS = 1_000;
const MAX_ID = 255;

/** A word in small letters, as it is compared. */
const NAME = /^[a-z][a-z0-9_-]{0,62}$/;
/** Of the root of a COMPOSITION. */
const ARCHETYPE = /^openEHR-[A-Z]+-COMPOSITION\.[\w-]+\.v\d[\w.-]*$/;

const categoryName = Joi.string()
  .pattern(NAME)
  .invalid(...OWN_CATEGORIES)
  .required()
  .messages({
    'string.pattern.base':
      '{{#label}} must be a word of small letters, digits, - and _ that begins with a letter, as psychiatry; at most 63 characters',
    'any.invalid': `{{#label}} is openEHR's own category: ${OWN_CATEGORIES.join(', ')} are always there`,
  });

const category = Joi.object<Category>({
  name: categoryName,
  templates: Joi.array().items(Joi.string().max(MAX_ID)).unique().default([]),
  archetypes: Joi.array()
    .items(
      Joi.string().max(MAX_ID).pattern(ARCHETYPE).messages({
        'string.pattern.base':
          '{{#label}} must be the id of an archetype of a COMPOSITION, as openEHR-EHR-COMPOSITION.report.v1',
      }),
    )
    .unique()
    .default([]),
}).custom((value: Category, helpers) =>
  value.templates.length + value.archetypes.length > 0
    ? value
    : helpers.message({ custom: '{{#label}} needs a template or an archetype: nothing would be of it' }),
);

interface CategoriesBody {
  readonly categories: readonly Category[];
  readonly version?: number;
  readonly time?: string;
  readonly by?: string;
  readonly confirmed_by?: string;
  readonly unknown_templates?: readonly string[];
}

const schema = Joi.object<CategoriesBody>({
  categories: Joi.array().items(category).unique('name').max(MAX_CATEGORIES).required(),
  // What answers have beside that may be sent back, and says nothing.
  version: Joi.number().strip(),
  time: Joi.string().strip(),
  by: Joi.string().strip(),
  confirmed_by: Joi.string().strip(),
  unknown_templates: Joi.array().strip(),
});

/** The categories that a request asks for. @throws as `bodyOf` */
export function categoriesFrom(ctx: Context): readonly Category[] {
  const { categories } = bodyOf(ctx, schema);
  const members = categories.flatMap(({ templates, archetypes }) => [...templates, ...archetypes]).length;
  if (members <= MAX_CATEGORY_MEMBERS) return categories;
  const message = `categories have at most ${MAX_CATEGORY_MEMBERS} templates and archetypes together`;
  throw new CdrError('invalid', message, { problems: [violationAt('/categories', message)] });
}

/** The version that a change follows, as the ETag of an answer named it; null: whichever it is. @throws invalid for another text */
export function followedCategories(ctx: Context): number | null {
  const given = ctx.get('If-Match').trim();
  if (given === '') return null;
  const version = /^(?:W\/)?"?categories::(\d{1,15})"?$/.exec(given)?.[1];
  if (version === undefined)
    throw new CdrError('invalid', 'If-Match must be the ETag of the categories, as "categories::3"');
  return Number(version);
}
