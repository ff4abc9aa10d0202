import { trusted } from 'mongoose';
import type { StoredAlias } from '../../openehr/template/upgrade/alias.js';
import { Template } from './template.js';

/** What upgrades have moved in some templates, by the ids under which these are stored. Joins the caller's transaction. */
export async function aliasesOfTemplates(
  storedIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredAlias[]>> {
  const wanted = { _id: trusted({ $in: [...storedIds] }) };
  const docs = await Template.find(wanted, { aliases: 1 }).exec();
  return new Map(docs.flatMap(({ _id, aliases = [] }) => (aliases.length === 0 ? [] : [[_id, aliases]])));
}

/** Notes what upgrades have moved in a template. Joins the caller's transaction. */
export async function putAliases(storedId: string, aliases: readonly StoredAlias[]): Promise<void> {
  const update = aliases.length === 0 ? { $unset: { aliases: 1 as const } } : { $set: { aliases } };
  await Template.updateOne({ _id: storedId }, update).exec();
}
