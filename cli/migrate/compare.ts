import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { objectsAt, textAt, withoutAttributes } from '../../openehr/rm/access.js';
import { oldEhrIds } from './ehr-ids.js';
import { differenceOf } from './difference.js';
import type { OldServer } from './old-server.js';
import type { OldTags } from './old-tags.js';
import { idsIn, type OldVersion } from './old-version.js';
import { OF_DIRECTORIES } from './read-directory.js';
import { readOldEhr, type OldEhr } from './read-ehr.js';

/** How two servers differ in one thing. */
export interface Difference {
  /** `only here`, `only there`: an EHR, template or stored query; else what of it differs. */
  readonly kind:
    | 'only here'
    | 'only there'
    | 'version list'
    | 'content'
    | 'CONTRIBUTION'
    | 'directory'
    | 'item tags'
    | 'EHR'
    | 'template'
    | 'stored query'
    | 'rows';
  readonly ehr_id?: string;
  /** Of the object; the text of a query. */
  readonly id: string;
  /** Where in it. */
  readonly path?: string;
}

/** Two servers, and what is asked of both. */
interface Comparison {
  readonly here: OldServer;
  readonly there: OldServer;
  /** AQL whose rows are compared, in any order, beside those that are asked in any case. */
  readonly queries: readonly string[];
  /** EHRs read at once. */
  readonly parallel: number;
  /** Takes what differs. */
  readonly note: (difference: Difference) => void;
  /** Called after each EHR. */
  readonly onEhr: () => void;
}

/** Compares definitions, every EHR, and rows; gives how many EHRs there are. @throws AnswerError when a server cannot be asked */
export async function compare(comparison: Comparison): Promise<number> {
  const { here, there, parallel, note } = comparison;
  await compareLists(comparison, '/definition/template/adl1.4', {
    kind: 'template',
    idOf: (listed) => textAt(listed, 'template_id') ?? '',
    textOf: (server, id) =>
      server.text(`/definition/template/adl1.4/${encodeURIComponent(id)}`, 'application/xml'),
  });
  await compareLists(comparison, '/definition/query', {
    kind: 'stored query',
    idOf: (listed) => `${textAt(listed, 'name') ?? ''}/${textAt(listed, 'version') ?? ''}`,
    textOf: async (server, id) => {
      const [name = '', version = ''] = id.split('/');
      const query = await server.object(`/definition/query/${encodeURIComponent(name)}/${version}`);
      return typeof query?.q === 'string' ? query.q : null;
    },
  });
  const [ours, theirs] = [new Set(await oldEhrIds(here, null)), new Set(await oldEhrIds(there, null))];
  for (const ehrId of theirs) if (!ours.has(ehrId)) note({ kind: 'only there', id: `EHR ${ehrId}` });
  for (const ehrId of ours) if (!theirs.has(ehrId)) note({ kind: 'only here', id: `EHR ${ehrId}` });
  const both = [...theirs].filter((ehrId) => ours.has(ehrId));
  const lane = async (): Promise<void> => {
    for (let next = both.shift(); next !== undefined; next = both.shift()) {
      await compareEhr(comparison, next);
      comparison.onEhr();
    }
  };
  const count = both.length;
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, lane));
  for (const q of [...COUNTS, ...comparison.queries]) await compareRows(comparison, q);
  return count;
}

interface Definitions {
  readonly kind: 'template' | 'stored query';
  readonly idOf: (listed: JsonObject) => string;
  readonly textOf: (server: OldServer, id: string) => Promise<string | null>;
}

async function compareLists(
  { here, there, note }: Comparison,
  path: string,
  { kind, idOf, textOf }: Definitions,
): Promise<void> {
  const idsOf = async (server: OldServer): Promise<Set<string>> =>
    new Set((await server.list(path)).map(idOf));
  const [ours, theirs] = [await idsOf(here), await idsOf(there)];
  for (const id of ours) if (!theirs.has(id)) note({ kind: 'only here', id: `${kind} ${id}` });
  for (const id of theirs) {
    if (!ours.has(id)) note({ kind: 'only there', id: `${kind} ${id}` });
    else if (textual(await textOf(here, id)) !== textual(await textOf(there, id))) note({ kind, id });
  }
}

/** White space at the ends, and kinds of line ends, are no difference. */
function textual(text: string | null): string {
  return (text ?? '').replaceAll('\r\n', '\n').trim();
}

async function compareEhr(comparison: Comparison, ehrId: string): Promise<void> {
  const { here, there, note } = comparison;
  const own = await readOldEhr(here, ehrId);
  const known = (own?.versions ?? []).filter(({ type }) => type === 'COMPOSITION');
  const ids = new Set(known.map(({ uid }) => rootOfUid(uid)));
  const other = await readOldEhr(there, ehrId, [...ids]);
  if (own === null || other === null) {
    note({ kind: own === null ? 'only there' : 'only here', id: `EHR ${ehrId}` });
    return;
  }
  const found = (kind: Difference['kind'], id: string, path: string | null): void => {
    if (path !== null) note({ kind, ehr_id: ehrId, id, path });
  };
  for (const name of ['system_id', 'time_created'])
    found('EHR', ehrId, differenceOf(own.ehr[name], other.ehr[name], `/${name}`));
  const hasDirectories = own.hasDirectories && other.hasDirectories;
  for (const container of differentLists(own, other, hasDirectories))
    note({ kind: 'version list', ehr_id: ehrId, id: container });
  compareVersions(own, other, found);
  compareContributions(own, other, found);
  if (!hasDirectories)
    found('directory', ehrId, differenceOf(withoutUid(own.directory), withoutUid(other.directory)));
  compareTags(own, other, found);
}

/** Takes what differs in one EHR, and where; null: nothing does. */
type Found = (kind: Difference['kind'], id: string, path: string | null) => void;

function compareVersions(own: OldEhr, other: OldEhr, found: Found): void {
  const versions = new Map(own.versions.map((version) => [version.uid, version]));
  for (const one of other.versions) {
    const same = versions.get(one.uid);
    if (same !== undefined) found('content', one.uid, differenceOf(same.version, one.version));
  }
}

function compareContributions(own: OldEhr, other: OldEhr, found: Found): void {
  const hasDirectories = own.hasDirectories && other.hasDirectories;
  const made = (one: JsonObject): string[] => madeBy(one, hasDirectories);
  for (const [uid, contribution] of other.contributions) {
    const same = own.contributions.get(uid);
    if (same === undefined) continue;
    found('CONTRIBUTION', uid, differenceOf(same.audit, contribution.audit, '/audit'));
    found('CONTRIBUTION', uid, differenceOf(made(same), made(contribution), '/versions'));
  }
  if (!own.isListed || !other.isListed) return;
  for (const uid of onlyOne(own.contributions, other.contributions)) {
    const contribution = own.contributions.get(uid) ?? other.contributions.get(uid) ?? {};
    if (made(contribution).length > 0) found('CONTRIBUTION', uid, '/');
  }
}

/** Versions that a CONTRIBUTION names, sorted; those of directories only where these can be compared. */
function madeBy(contribution: JsonObject, hasDirectories: boolean): string[] {
  const versions = objectsAt(contribution, 'versions').filter(
    ({ type }) => hasDirectories || !OF_DIRECTORIES.includes(type),
  );
  return idsIn({ versions }, 'versions').sort();
}

/** What is in one of two maps. */
function onlyOne(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((key) => !(one.has(key) && other.has(key)));
}

function compareTags(own: OldEhr, other: OldEhr, found: Found): void {
  const sides = [own.tags, other.tags];
  const of = (['none', 'containers'] as const).find((less) => sides.some((one) => one.of === less)) ?? 'all';
  if (of === 'none') return;
  found('item tags', own.ehrId, differenceOf(tagsOf(own.tags, of), tagsOf(other.tags, of), '/item_tags'));
}

/** What tags say of what, in an order of their own. `of`: those that both servers tell of. */
function tagsOf({ tags }: OldTags, of: OldTags['of']): JsonObject[] {
  return tags
    .filter(({ target_version: version }) => of === 'all' || version === null)
    .map(({ key, value, target, target_path, target_version }) => ({
      ...{ key, value, target, target_path, target_version },
    }))
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** Containers whose versions are not the same, in the same order. */
function differentLists(own: OldEhr, other: OldEhr, hasDirectories: boolean): string[] {
  const compared = (versions: readonly OldVersion[]): OldVersion[] =>
    versions.filter(({ type }) => hasDirectories || type !== 'FOLDER');
  const [ours, theirs] = [listsOf(compared(own.versions)), listsOf(compared(other.versions))];
  return [...new Set([...ours.keys(), ...theirs.keys()])].filter(
    (id) => !isDeepStrictEqual(ours.get(id), theirs.get(id)),
  );
}

function listsOf(versions: readonly OldVersion[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const { uid } of versions) lists.set(rootOfUid(uid), [...(lists.get(rootOfUid(uid)) ?? []), uid]);
  return lists;
}

/** A directory is committed anew by a migration, so that its version is another one. */
function withoutUid(directory: JsonObject | null): JsonValue {
  return directory === null ? null : withoutAttributes(directory, ['uid']);
}

/** What is asked in any case. */
const COUNTS = [
  'SELECT COUNT(e/ehr_id/value) FROM EHR e',
  'SELECT COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c',
];

async function compareRows({ here, there, note }: Comparison, q: string): Promise<void> {
  const [ours, theirs] = await Promise.all([sortedRows(here, q), sortedRows(there, q)]);
  if (!isDeepStrictEqual(ours, theirs)) note({ kind: 'rows', id: q });
}

async function sortedRows(server: OldServer, q: string): Promise<string[]> {
  const answer = await server.object(`/query/aql?q=${encodeURIComponent(q)}`);
  return (Array.isArray(answer?.rows) ? answer.rows : []).map((row) => JSON.stringify(row)).sort();
}
