import type Joi from 'joi';
import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';
import { isJsonObject, type JsonObject } from '../../../openehr/base/json.js';
import { violationAt } from '../../../openehr/base/violation.js';
import { within } from '../../../openehr/base/work.js';
import { parseJson } from '../../../openehr/format/canonical-json.js';
import { requestBody } from '../../../openehr/format/media-type.js';
import { requiredBodyText } from '../exchange.js';
import { bodyReading } from './request-body.js';

/** What an error says of a body: at most so many problems, each in so many characters. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM = 500;

/**
 * A JSON object of a request. `seen`: what to note of it even if it is refused.
 * @throws unsupported-media-type; invalid with everything that is wrong
 */
export function bodyOf<T>(
  ctx: Context,
  schema: Joi.ObjectSchema<T>,
  seen: (body: JsonObject) => void = () => undefined,
): T {
  requestBody('query', ctx.get('Content-Type'));
  const text = requiredBodyText(ctx);
  const body = within(ctx.state.work, () => parseJson(text, bodyReading(ctx)));
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be an object');
  seen(body);
  const validated = schema.validate(body, { abortEarly: false, errors: { wrap: { label: false } } });
  if (validated.error !== undefined) throw refused(validated.error.details);
  return validated.value;
}

function refused(details: readonly Joi.ValidationErrorItem[]): CdrError {
  const shortened = (text: string): string => text.slice(0, MAX_PROBLEM);
  const problems = details
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => violationAt(shortened(`/${path.join('/')}`), shortened(message)));
  const more = details.length > MAX_PROBLEMS ? [`and ${details.length - MAX_PROBLEMS} more`] : [];
  const message = [...problems.map((problem) => problem.message), ...more].join('; ');
  return new CdrError('invalid', message, { problems });
}
