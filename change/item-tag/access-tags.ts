import { ambient } from '../../database/transaction.js';
import { endCarriedTags } from '../../models/access-tag.js';
import { tagsOfTarget, type ItemTagDoc, type TagTarget } from '../../models/item-tag.js';
import { CdrError } from '../../openehr/base/errors.js';
import { ACCESS_TAG } from '../../policy/attributes.js';
import { badKey, type TagContent } from './tag-content.js';

/** What a request may do with the tags of EHRs that policies of access see: change them, or leave them as they are. */
type AccessTagRight = 'change' | 'leave';

declare module '../../database/transaction.js' {
  interface Ambient {
    /** Absent: there are no such tags. */
    readonly accessTags?: AccessTagRight;
  }
}

/** What is sent of a tag. `id`: null for a new one; absent: the one of its key and path. */
interface SentTag extends TagContent {
  readonly id?: string | null;
}

/**
 * Where there are no policies, tags that these see once there are again stay as they are, whatever is sent: this is what is written
 * beside them. null: there are policies, and whoever may change such tags changes them. `before`: the tags of the target.
 * @throws CdrError of the given code for a tag that begins as these do, and is not there as it is sent
 */
export function besideAccessTags<T extends SentTag>(
  sent: readonly T[],
  before: readonly ItemTagDoc[],
  code: 'invalid' | 'unprocessable',
): readonly T[] | null {
  if (ambient.getStore()?.accessTags !== undefined) return null;
  return sent.filter((tag) => {
    if (!tag.key.startsWith(ACCESS_TAG)) return true;
    const isThere = before.some(
      ({ _id, key, value, target_path: path }) =>
        (tag.id === undefined || tag.id === _id) &&
        key === tag.key &&
        value === tag.value &&
        path === tag.targetPath,
    );
    if (!isThere) throw badKey(code);
    return false;
  });
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
