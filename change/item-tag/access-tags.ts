import { ambient } from '../../database/transaction.js';
import { endCarriedTags } from '../../models/access-tag.js';
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
 * Writes tags of a target where policies may see them. Who may not change those finds them the same afterwards; who may, and does, ends what
 * merges brought of the same keys: he says what the whole EHR has. Joins the caller's transaction, which holds the EHR. docs/access.md#tags
 * @throws forbidden where they are not the same
 */
export async function mindingAccessTags<T>(
  target: TagTarget,
  right: AccessTagRight,
  write: () => Promise<T>,
): Promise<T> {
  if (!isOfEhr(target)) return write();
  const before = await accessTagsOn(target);
  const written = await write();
  const after = await accessTagsOn(target);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key) !== after.get(key),
  );
  if (changed.length === 0) return written;
  if (right === 'leave')
    throw new CdrError(
      'forbidden',
      `tags of an EHR that begin with ${ACCESS_TAG} say who may see it: changing them needs the permission admin`,
    );
  await endCarriedTags(target, changed);
  return written;
}

/** Ends what merges brought of a key, by who may change it. Gives how many. Joins the caller's transaction, which holds the EHR. */
export async function endCarried(target: TagTarget, right: AccessTagRight, key: string): Promise<number> {
  const isMeant = right === 'change' && isOfEhr(target) && key.startsWith(ACCESS_TAG);
  return isMeant ? endCarriedTags(target, [key]) : 0;
}

/** Whether it is the EHR_STATUS as a whole. */
function isOfEhr({ target_type: type, target_version: version }: TagTarget): boolean {
  return type === 'EHR_STATUS' && version === null;
}

/** What the tags of each key say. */
async function accessTagsOn(target: TagTarget): Promise<ReadonlyMap<string, string>> {
  const said = new Map<string, string>();
  for (const { key, value, target_path: path } of await tagsOfTarget(target))
    if (key.startsWith(ACCESS_TAG)) said.set(key, `${said.get(key) ?? ''}${JSON.stringify([value, path])}`);
  return said;
}
