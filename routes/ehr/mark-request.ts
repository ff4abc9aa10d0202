import Joi from 'joi';
import type { Context } from 'koa';
import type { MarkContent } from '../../change/mark/marks.js';
import { parseDateTime } from '../../openehr/base/iso8601.js';
import { MARK_KINDS } from '../../policy/marks.js';
import { bodyOf } from '../http/exchange.js';

const MAX_TEXT = 255;
const MAX_GROUND = 1_000;
/** Marks of one request; how many an EHR may have is said when they are set. */
const MAX_SENT = 1_000;

const text = Joi.string().trim().max(MAX_TEXT);

/** The moment that a text of ISO 8601 begins or ends with. */
const moment = (edge: 'lower' | 'upper'): Joi.StringSchema =>
  Joi.string().custom((value: string, helpers) => {
    const time = parseDateTime(value);
    if (time === null)
      return helpers.message({ custom: '{{#label}} must be an ISO 8601 date or date and time' });
    return new Date(time[edge]);
  });

const NOT_OF_RESTRICTIONS = ['template_id', 'category', 'origin', 'organisation', 'from', 'to'] as const;

const mark = Joi.object<MarkContent & { readonly time?: string; readonly by?: string }>({
  kind: Joi.valid(...MARK_KINDS).required(),
  ground: Joi.string().trim().max(MAX_GROUND).required(),
  object_uid: Joi.string().guid().lowercase(),
  template_id: text,
  category: text,
  origin: text,
  organisation: text,
  from: moment('lower'),
  to: moment('upper'),
  // What answers have beside that may be sent back, and says nothing.
  time: Joi.string().strip(),
  by: Joi.string().strip(),
})
  .when(Joi.object({ kind: 'restriction_of_processing' }).unknown(), {
    then: Joi.object(
      Object.fromEntries(
        NOT_OF_RESTRICTIONS.map((name) => [
          name,
          Joi.forbidden().messages({
            'any.unknown':
              '{{#label}} is not allowed: a restriction of processing is of the EHR or of one object',
          }),
        ]),
      ),
    ),
  })
  .custom((value: MarkContent, helpers) => {
    const { object_uid, template_id, category, origin, from, to } = value;
    if (from !== undefined && to !== undefined && from > to)
      return helpers.message({ custom: '{{#label}}: from is later than to' });
    const picks = [template_id, category, origin, from, to].some((each) => each !== undefined);
    if (object_uid !== undefined && picks)
      return helpers.message({ custom: '{{#label}}: object_uid stands without what picks others' });
    return value;
  });

const schema = Joi.object<{ readonly marks: readonly MarkContent[] }>({
  marks: Joi.array().items(mark).max(MAX_SENT).required(),
});

/** Marks as a request asks for them. @throws as `bodyOf` */
export function marksOf(ctx: Context): readonly MarkContent[] {
  return bodyOf(ctx, schema).marks;
}
