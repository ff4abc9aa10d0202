import { ambient } from '../../database/transaction.js';
import { tagsOfTarget, type TagTarget } from '../../models/item-tag.js';
import { CdrError } from '../../openehr/base/errors.js';
import { ACCESS_TAG } from '../../policy/attributes.js';

/** What a request may do with the tags of EHRs that policies of access see: change them, or leave them as they are. */
type AccessTagRight = 'change' | 'leave';

declare module '../../database/transaction.js' {
  interface Ambient {
    /** Absent: there are no such tags. */
    readonly accessTags?: AccessTagRight;
  }
}

/** Runs the work of a request for somebody with this right. */
export function withAccessTags<T>(accessTags: AccessTagRight, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), accessTags }, work);
}

/**
 * Writes tags for somebody who may not change those that policies see: they are the same afterwards. Joins the caller's transaction,
 * which holds the EHR. docs/access.md#tags
 * @throws forbidden where they are not
 */
export async function leavingAccessTags<T>(target: TagTarget, write: () => Promise<T>): Promise<T> {
  if (target.target_type !== 'EHR_STATUS' || target.target_version !== null) return write();
  const before = await accessTagsOn(target);
  const written = await write();
  if ((await accessTagsOn(target)) === before) return written;
  throw new CdrError(
    'forbidden',
    `tags of an EHR that begin with ${ACCESS_TAG} say who may see it: changing them needs the permission admin`,
  );
}

async function accessTagsOn(target: TagTarget): Promise<string> {
  const tags = await tagsOfTarget(target);
  const seen = tags.filter(({ key }) => key.startsWith(ACCESS_TAG));
  return JSON.stringify(seen.map(({ key, value, target_path: path }) => [key, value, path]));
}
