import type { AnswerDescription, BodyDescription } from '../http/operation/operation.js';

/** An answer about one version, whose headers tell which. */
export function versionAnswer(description: string, body?: BodyDescription): AnswerDescription {
  return {
    description,
    ...(body !== undefined && { body }),
    headers: ['ETag', 'Location', 'Last-Modified'],
  };
}

/** What a creation answers. */
export const CREATED = 'Created; a body only when `Prefer` asks for one';

/** What an update answers. */
export const UPDATED = 'Updated; a body only when `Prefer` asks for one';

/** Answer to a read of what was deleted at that time. */
export const DELETED_THEN = versionAnswer('Deleted then; the headers tell the deletion');

/** Answer to a logical deletion. */
export const DELETED = versionAnswer('Deleted; the headers tell the deletion version');
