import { collapsedToken } from '../../openehr/base/text.js';
import { pathAlias, type PathAlias, type StoredAlias } from '../../openehr/template/upgrade/alias.js';
import { aliasesOfTemplates, putAliases } from '../definition/template-alias.js';
import { noteAliases, storageSettings } from '../settings.js';

/** The aliases that this process has read, and after which change. */
let read: { readonly revision: number; readonly aliases: readonly PathAlias[] } | null = null;

/**
 * The paths that upgrades have moved in all templates, as queries see them. `revision`: the change after which they are asked
 * for (`DerivedState`); they are read once for each.
 */
export async function presentAliases(revision: number): Promise<readonly PathAlias[]> {
  if (read?.revision === revision) return read.aliases;
  const stored = await aliasesOfTemplates((await storageSettings())?.aliases?.templates ?? []);
  const aliases = [...stored].flatMap(([storedId, all]) => {
    const templateIds = [...new Set([storedId, collapsedToken(storedId)])];
    const different = new Map(all.map((each) => [JSON.stringify([each.from, each.to]), each]));
    return [...different.values()].map((each) => pathAlias(each, templateIds));
  });
  read = { revision, aliases };
  return aliases;
}

/**
 * Adds what an upgrade moves to the aliases of its template. Joins the caller's transaction; each server sees it `LEAF_TRUST_MS`
 * later at most.
 */
export async function addAliases(storedId: string, added: readonly StoredAlias[]): Promise<void> {
  if (added.length === 0) return;
  const before = (await aliasesOfTemplates([storedId])).get(storedId) ?? [];
  await putAliases(storedId, [...before, ...added]);
  await noteAliases(storedId, true);
}

/** Takes away what an upgrade that was taken back had moved. Joins the caller's transaction. */
export async function removeAliases(storedId: string, upgradeId: string): Promise<void> {
  const before = (await aliasesOfTemplates([storedId])).get(storedId) ?? [];
  const left = before.filter(({ upgrade }) => upgrade !== upgradeId);
  if (left.length === before.length) return;
  await putAliases(storedId, left);
  await noteAliases(storedId, left.length > 0);
}
