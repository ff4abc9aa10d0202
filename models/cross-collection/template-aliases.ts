import { collapsedToken } from '../../openehr/base/text.js';
import { pathAlias, type StoredAlias } from '../../openehr/template/upgrade/alias.js';
import type { PathAlias } from '../../openehr/template/upgrade/path-alias.js';
import { aliasesOfTemplates, putAliases } from '../definition/template-alias.js';
import type { Session } from '../access/write.js';
import { noteAliases, storageSettings } from '../settings.js';
import { noteStates } from './state-note.js';

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
export async function addAliases(
  session: Session,
  storedId: string,
  added: readonly StoredAlias[],
): Promise<void> {
  if (added.length === 0) return;
  const before = (await aliasesOfTemplates([storedId])).get(storedId) ?? [];
  await changeAliases(storedId, [...before, ...added]);
  await noteStates(session, { collection: 'templates', ids: [storedId], reason: 'definition' });
}

/** Takes away what an upgrade that was taken back had moved. Joins the caller's transaction. */
export async function removeAliases(session: Session, storedId: string, upgradeId: string): Promise<void> {
  const before = (await aliasesOfTemplates([storedId])).get(storedId) ?? [];
  const left = before.filter(({ upgrade }) => upgrade !== upgradeId);
  if (left.length === before.length) return;
  await changeAliases(storedId, left);
  await noteStates(session, { collection: 'templates', ids: [storedId], reason: 'definition' });
}

/** Gives a template the aliases that it has elsewhere; what the seals say of it is the caller's. Joins the caller's transaction. */
export async function changeAliases(storedId: string, aliases: readonly StoredAlias[]): Promise<void> {
  await putAliases(storedId, aliases);
  await noteAliases(storedId, aliases.length > 0);
}
