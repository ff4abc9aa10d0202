import { uidParts } from '../../openehr/base/object-version-id.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { groupBy } from '../../openehr/base/maps.js';
import { importedVersion } from '../semantics/imported-version.js';
import { compositionRef, contributionRef, ehrObject, folderRef, objectRef } from '../semantics/ehr-object.js';
import { counted, step } from '../../openehr/base/work.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { isArchetypeId } from '../syntax/words.js';
import type { Judge } from './permitted.js';
import type { ReferenceData, ReferenceEhr, ReferenceVersion } from './data.js';

/** One object of a version's tree. */
export interface Node {
  readonly object: JsonObject;
  readonly version: Version;
  /** Depth-first number; the root is 0. */
  readonly number: number;
  /** Number of the last node below, its own number without any. */
  readonly last: number;
  /** The nearest node with an archetype id, itself included. */
  readonly archetypeRoot: Node | null;
}

/** A version with its tree. */
export interface Version {
  readonly uid: string;
  readonly versionedObjectUid: string;
  readonly number: number;
  readonly type: RootType;
  readonly source: ReferenceVersion;
  /** As paths see it: an IMPORTED_VERSION has what its functions give of its `item`, too. */
  readonly object: JsonObject;
  /** The cell of `SELECT v`. */
  readonly cell: JsonObject;
  /** All objects with `_type`, root first; empty for a deletion. */
  readonly nodes: readonly Node[];
}

/** Whether a version is a COMPOSITION of a template. */
export function isOfTemplate({ source: { data } }: Version, templateIds: readonly string[]): boolean {
  const details = data?.['archetype_details'];
  const template = isJsonObject(details) ? details['template_id'] : null;
  const id = isJsonObject(template) ? template['value'] : null;
  return typeof id === 'string' && templateIds.includes(id);
}

/** An EHR at the time looked at. */
export interface Ehr {
  readonly source: ReferenceEhr;
  /** As paths see it: ehr_status and directory are the objects themselves. */
  readonly pathObject: JsonObject;
  /** The cell of `SELECT e`. */
  readonly cell: JsonObject;
  /** Every version with data, deletions left out. */
  readonly versions: readonly Version[];
  /** Those that are latest and not deleted. */
  readonly latest: readonly Version[];
}

/** All EHRs that exist at `asOf` (null: now), merged ones and what a judge does not let through left out. */
export function ehrsAt(data: ReferenceData, asOf: Date | null, judge: Judge | null = null): readonly Ehr[] {
  const time = asOf?.getTime() ?? Infinity;
  const visible = counted(data.versions).filter(({ timeCommitted }) => timeCommitted.getTime() <= time);
  const byEhr = groupBy(visible, ({ ehrId }) => ehrId);
  return counted(data.ehrs)
    .filter((ehr) => ehr.isMerged !== true && ehr.timeCreated.getTime() <= time && judge?.ehr(ehr) !== false)
    .map((ehr) => ehrOf(ehr, byEhr.get(ehr.ehrId) ?? [], judge));
}

function ehrOf(source: ReferenceEhr, own: readonly ReferenceVersion[], judge: Judge | null): Ehr {
  const all = counted(own).map(referenceVersion);
  const chains = groupBy(all, ({ versionedObjectUid }) => versionedObjectUid);
  const containers = counted([...chains]).map(([versionedObjectUid, versions]) => {
    const chain = counted(versions).sort((a, b) => a.number - b.number);
    const created = chain[0]?.source.timeCommitted.getTime() ?? 0;
    return { versionedObjectUid, created, last: chain[chain.length - 1] };
  });
  const live = counted(containers)
    .filter(
      ({ last }) => last !== undefined && last.source.data !== null && judge?.version(last.source) !== false,
    )
    .sort((a, b) => a.created - b.created || compare(a.versionedObjectUid, b.versionedObjectUid));
  const latest = counted(live).flatMap(({ last }) => (last === undefined ? [] : [last]));
  const versions = counted(all).filter(
    ({ source: each }) => each.data !== null && judge?.version(each) !== false,
  );
  // A contribution is seen by what can be seen of what it made.
  const named = judge === null ? own : counted(versions).map((each) => each.source);
  return { source, versions, latest, ...ehrObjects(source, latest, named) };
}

function ehrObjects(
  source: ReferenceEhr,
  latest: readonly Version[],
  own: readonly ReferenceVersion[],
): { pathObject: JsonObject; cell: JsonObject } {
  const ofType = (type: RootType): Version[] => counted(latest).filter((each) => each.type === type);
  const status = ofType('EHR_STATUS')[0];
  const folders = ofType('FOLDER');
  const compositionIds = counted(ofType('COMPOSITION')).map(({ versionedObjectUid }) => versionedObjectUid);
  const contributionUids = namedContributions(own);
  const cell = ehrObject({
    ehrId: source.ehrId,
    systemId: source.systemId,
    timeCreated: formatUtc(source.timeCreated),
    ehrStatusUid: status?.uid ?? null,
    directoryId: folders[0]?.versionedObjectUid ?? null,
    compositionIds,
    contributionUids,
  });
  const root = (version: Version | undefined): JsonValue => version?.nodes[0]?.object ?? null;
  const pathObject = {
    ...cell,
    ehr_status: root(status),
    directory: root(folders[0]),
    compositions: counted(compositionIds).map(compositionRef),
    contributions: counted(contributionUids).map(contributionRef),
    folders: counted(folders).map(({ versionedObjectUid }) => folderRef(versionedObjectUid)),
  };
  return { pathObject, cell };
}

function namedContributions(own: readonly ReferenceVersion[]): string[] {
  const times = new Map<string, number>();
  for (const { contributionUid, timeCommitted } of counted(own))
    times.set(contributionUid, timeCommitted.getTime());
  return counted([...times])
    .sort(([a, x], [b, y]) => x - y || compare(a, b))
    .map(([uid]) => uid);
}

function referenceVersion(source: ReferenceVersion): Version {
  const [versionedObjectUid = '', , number = '0'] = uidParts(source.uid);
  const root =
    source.data === null ? null : { ...source.data, uid: { _type: 'OBJECT_VERSION_ID', value: source.uid } };
  const nodes: Node[] = [];
  const version: Version = {
    uid: source.uid,
    versionedObjectUid: versionedObjectUid.toLowerCase(),
    number: Number(number),
    type: source.type,
    source,
    ...versionObjects(source, root),
    nodes,
  };
  if (root !== null) collectNodes(root, null, version, nodes);
  return version;
}

function collectNodes(object: JsonObject, above: Node | null, version: Version, nodes: Node[]): void {
  step();
  const nodeId = object['archetype_node_id'];
  const isArchetyped = typeof nodeId === 'string' && isArchetypeId(nodeId);
  const isRoot = above === null || isArchetyped || object['_type'] === 'FOLDER';
  const node: { -readonly [K in keyof Node]: Node[K] } = {
    object,
    version,
    number: nodes.length,
    last: nodes.length,
    archetypeRoot: null,
  };
  node.archetypeRoot = isRoot ? node : above.archetypeRoot;
  nodes.push(node);
  for (const value of counted(Object.values(object)))
    for (const child of counted(Array.isArray(value) ? value : [value]))
      if (isJsonObject(child)) collectNodes(child, node, version, nodes);
  node.last = nodes.length - 1;
}

function versionObjects(
  source: ReferenceVersion,
  data: JsonObject | null,
): { readonly object: JsonObject; readonly cell: JsonObject } {
  const object = originalVersion(source, data);
  if (source.item === undefined) return { object, cell: object };
  const imported = importedVersion(object, source.item);
  return { object: { ...object, ...imported }, cell: imported };
}

function originalVersion(source: ReferenceVersion, data: JsonObject | null): JsonObject {
  return {
    _type: 'ORIGINAL_VERSION',
    contribution: objectRef('HIER_OBJECT_ID', source.contributionUid, 'CONTRIBUTION'),
    commit_audit: source.commitAudit,
    ...(source.signature === undefined ? {} : { signature: source.signature }),
    uid: { _type: 'OBJECT_VERSION_ID', value: source.uid },
    ...(data === null ? {} : { data }),
    ...(source.precedingVersionUid === null
      ? {}
      : { preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: source.precedingVersionUid } }),
    lifecycle_state: source.lifecycleState,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
