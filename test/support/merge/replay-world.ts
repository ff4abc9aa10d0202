import type { RequestListener } from 'node:http';
import { expect } from '@jest/globals';
import request from 'supertest';
import { textAt } from '../../../openehr/rm/access.js';
import type { EhrDoc } from '../../../models/ehr.js';
import type { ItemTagDoc } from '../../../models/item-tag.js';
import type { MergeRecordDoc } from '../../../models/merge/record.js';
import { versionsByUid, type VersionDoc } from '../../../models/version.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { folder, merge, rows, statusOf } from '../merge-http.js';
import { answered, givenEhr, V1, type Json } from '../resources.js';
import { contentOf, detailsOf, documents, Edits, LIST, Names, NOTE, type Edit } from './replay-edits.js';

/** What an EHR of a script begins with. */
export interface Original {
  readonly list: 'none' | 'complete' | 'incomplete';
  readonly hasDirectory: boolean;
  readonly hasTag: boolean;
}

/** A merge of a script; EHRs by their numbers. */
export interface MergeStep {
  readonly kind: 'merge';
  readonly source: number;
  readonly target: number;
  readonly body: Json;
}

/** What of a state is not looked at. */
export interface LeftOut {
  /** Texts of versions of which an undo gave the content to another object. */
  readonly texts: ReadonlySet<string>;
  /** Lists, wherever they are: one was kept where no merge that remains would have put it. */
  readonly lists: boolean;
  /** Directories: the same. */
  readonly directories: boolean;
}

const stateOf = ({ lifecycle_state: state }: VersionDoc): string =>
  textAt(state, 'defining_code', 'code_string') ?? '';

/** What a VERSION says, and the state that it is in. */
const said = (version: VersionDoc): string => {
  const { composer } = JSON.parse(version.data ?? '{}') as { composer?: { name?: string } };
  return `${composer?.name ?? ''} (${stateOf(version)})`;
};

const textOf = (version: VersionDoc): string => said(version).replace(/ \(\d+\)$/, '');

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** Versions that merges, unmerges and moves made say so. */
function isOfPerson({ commit_audit: { description } }: VersionDoc): boolean {
  return !/^(Merge|Unmerge) of EHR|^Move of COMPOSITION/.test(
    String((description as Json | undefined)?.value ?? ''),
  );
}

/**
 * EHRs of a script in the product, used over HTTP. Objects have names (`list 0`, `note 2`), so that the same script in other
 * EHRs is the same but for its ids.
 */
export class World {
  readonly ehrs: string[] = [];
  readonly edits: Edits;
  private readonly names = new Names();

  constructor(
    private readonly app: RequestListener,
    /** Makes the subjects of this world its own. */
    private readonly suffix: string,
  ) {
    this.edits = new Edits(app, this.ehrs, this.names, suffix);
  }

  async begin(originals: readonly Original[]): Promise<void> {
    const details = (number: number) => ({ other_details: detailsOf(`identity ${number}`) });
    const made = originals.map((_, number) =>
      givenEhr(this.app, statusOf(`${number}.${this.suffix}`, details(number))),
    );
    this.ehrs.push(...(await Promise.all(made)));
    for (const [number, ehrId] of this.ehrs.entries()) this.names.add(ehrId, `EHR ${number}`);
    // One after the other: which of two lists is the later one must be the same in every world.
    for (const [number, original] of originals.entries()) await this.fill(number, original);
    const tagged = [...originals.entries()].filter(([, { hasTag, list }]) => hasTag && list !== 'none');
    await Promise.all(
      tagged.map(([number]) =>
        this.edit({ kind: 'tag', object: `list ${number}`, key: 'a', text: `tag-${number}` }),
      ),
    );
    const found = documents<EhrDoc>('ehrs').find({ _id: { $in: this.ehrs } });
    for await (const { _id, ehr_status_id: id } of found)
      this.names.add(id, `status ${this.ehrs.indexOf(_id)}`);
  }

  private fill(number: number, { list, hasDirectory }: Original): Promise<void> {
    const { edits } = this;
    const made = [edits.creation(`note ${number}`, contentOf(NOTE, `note ${number}`))];
    if (list !== 'none') made.push(edits.creation(`list ${number}`, contentOf(LIST, `list ${number}`), list));
    if (hasDirectory) made.push(edits.creation(`directory ${number}`, this.rootOf(number)));
    return edits.commit(number, made);
  }

  private rootOf(number: number): Json {
    const notes = [this.idOf(`note ${number}`), this.idOf(`list ${number}`)].filter((id) => id !== '');
    return folder(`directory ${number}`, notes, [folder(`inner ${number}`)]);
  }

  /** The object id of a name. */
  idOf(name: string): string {
    return this.names.idOf(name);
  }

  /** The name of an object or EHR id; the id where it has none. */
  nameOf(id: string): string {
    return this.names.nameOf(id);
  }

  /** Numbers of the EHRs that are not merged away. */
  async active(): Promise<number[]> {
    const found = await documents<EhrDoc>('ehrs')
      .find({ _id: { $in: this.ehrs }, state: 'active' })
      .toArray();
    const ids = new Set(found.map(({ _id }) => _id));
    return this.ehrs.flatMap((ehrId, number) => (ids.has(ehrId) ? [number] : []));
  }

  async isLocked(ehr: number): Promise<boolean> {
    return (await documents<EhrDoc>('ehrs').findOne({ _id: this.ehrs[ehr]! }))?.is_modifiable === false;
  }

  /** false: there is nothing to change, or it cannot be changed; locks hold, but where it is forced. */
  edit(edit: Edit, isForced = false): Promise<boolean> {
    return this.edits.make(edit, isForced);
  }

  merge({ source, target, body }: MergeStep): Promise<request.Response> {
    return answered(() => merge(this.app, this.ehrs[source]!, this.ehrs[target]!, body));
  }

  /** Names of the live COMPOSITIONs of an EHR. */
  async objectsOf(ehr: number): Promise<string[]> {
    const found = await documents<VersionedObjectDoc>('versioned_objects')
      .find({ ehr_id: this.ehrs[ehr]!, type: 'COMPOSITION', deleted: false })
      .toArray();
    return found.map(({ _id }) => this.nameOf(_id)).sort();
  }

  /** The live directory of an EHR by its container; null without one. */
  async directoryId(ehr: number): Promise<string | null> {
    const found = await documents<VersionedObjectDoc>('versioned_objects').findOne({
      ehr_id: this.ehrs[ehr]!,
      type: 'FOLDER',
      deleted: false,
    });
    return found?._id ?? null;
  }

  /** The lists that a merge joined: by the name of the target's that of the source's. */
  async joinedBy({ source }: MergeStep): Promise<ReadonlyMap<string, string>> {
    const record = await documents<MergeRecordDoc>('merge_records').findOne({
      source_ehr: this.ehrs[source]!,
    });
    return new Map(record?.joined.map((pair) => [this.nameOf(pair.target), this.nameOf(pair.source)]));
  }

  /** Where objects are and what they hold, by their ids. */
  async standing(ids: readonly string[]): Promise<Json> {
    const containers = await documents<VersionedObjectDoc>('versioned_objects')
      .find({ _id: { $in: [...ids] } })
      .toArray();
    const latest = await versionsByUid(containers.map(({ latest_version_uid: uid }) => uid));
    const contents = new Map(latest.map((one) => [one.object_id, [one.data, stateOf(one)]]));
    return Object.fromEntries(
      containers.map(({ _id, ehr_id: ehrId }) => [this.nameOf(_id), [this.nameOf(ehrId), contents.get(_id)]]),
    );
  }

  /**
   * Everything that a clinician or a registry sees, without ids: by EHR. Of the history of what is live the versions that persons made.
   */
  async state(leftOut: LeftOut): Promise<Json> {
    const state: Json = {};
    const numbers = await this.active();
    const queried = await this.queried(numbers);
    const objects = await this.ownObjects(numbers, leftOut);
    const isSeen = (name: string): boolean => !leftOut.lists || !name.startsWith('list ');
    for (const number of numbers) {
      const ehrId = this.ehrs[number]!;
      const own = await this.contents(ehrId);
      const tags = await documents<ItemTagDoc>('item_tags').find({ owner_id: ehrId }).toArray();
      const live = own.filter(({ versions }) => versions.at(-1)?.data != null);
      const isQueryable = objects.get(ehrId)?.flags.is_queryable === true;
      // What queries find is what there is, unless the EHR_STATUS hides it.
      expect(queried.get(ehrId) ?? []).toEqual(
        isQueryable ? live.map(({ name, versions }) => `${name}: ${textOf(versions.at(-1)!)}`) : [],
      );
      state[`EHR ${number}`] = {
        compositions: live
          .filter(({ name }) => isSeen(name))
          .map(({ name, versions }) => `${name}: ${said(versions.at(-1)!)}`),
        history: live
          .filter(({ name }) => isSeen(name))
          .flatMap(({ name, versions }) =>
            versions
              .filter((one) => one.data !== null && isOfPerson(one) && !leftOut.texts.has(textOf(one)))
              .map((one) => `${name}: ${said(one)}`),
          ),
        ...objects.get(ehrId),
        tags: tags
          .filter(({ target }) => isSeen(this.nameOf(target)))
          .map(({ target, target_version: version, key, value }) =>
            [this.nameOf(target), ...(version === null ? [] : ['VERSION']), `${key}=${value}`].join(' '),
          )
          .sort(),
      };
    }
    return { ...state, subjects: await this.subjects() };
  }

  /** The COMPOSITIONs of an EHR with all their versions. */
  private async contents(
    ehrId: string,
  ): Promise<{ readonly name: string; readonly versions: readonly VersionDoc[] }[]> {
    const heads = await documents<{ _id: string; object_id: string }>('versions')
      .find({ ehr_id: ehrId, type: 'COMPOSITION' }, { projection: { object_id: 1 } })
      .toArray();
    const versions = await versionsByUid(heads.map(({ _id }) => _id));
    return [...grouped(versions, ({ object_id: id }) => this.nameOf(id))]
      .map(([name, all]) => ({ name, versions: all.toSorted((a, b) => a.version - b.version) }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** The EHR_STATUS of EHRs, what is kept of it, and their directories, by EHR id: what stands in their latest versions. */
  private async ownObjects(numbers: readonly number[], leftOut: LeftOut): Promise<ReadonlyMap<string, Json>> {
    const ehrs = await documents<EhrDoc>('ehrs')
      .find({ _id: { $in: numbers.map((number) => this.ehrs[number]!) } })
      .toArray();
    const ids = ehrs.flatMap(({ ehr_status_id: status, directory_id: directory }) => [
      status,
      directory ?? '',
    ]);
    const containers = await documents<VersionedObjectDoc>('versioned_objects')
      .find({ _id: { $in: ids }, deleted: false })
      .toArray();
    const latest = await versionsByUid(containers.map(({ latest_version_uid: uid }) => uid));
    const contents = new Map(
      latest.map(({ object_id: id, data }) => [id, this.readable(JSON.parse(data!) as Json, leftOut)]),
    );
    return new Map(
      ehrs.map(({ _id, ehr_status_id: status, directory_id: directory = '', ...ehr }) => [
        _id,
        {
          status: contents.get(status),
          flags: { is_queryable: ehr.is_queryable, is_modifiable: ehr.is_modifiable },
          directory: leftOut.directories ? 'left out' : (contents.get(directory) ?? null),
        },
      ]),
    );
  }

  /** What AQL finds in EHRs, by EHR id. */
  private async queried(numbers: readonly number[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const ids = numbers.map((number) => `'${this.ehrs[number]!}'`).join();
    const q = `SELECT c/uid/value, e/ehr_id/value, c/composer/name FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value matches {${ids}}`;
    const found = (await rows(this.app, q)).map(([uid, ehr, text]) => ({
      ehr: String(ehr),
      name: this.nameOf(String(uid).split('::')[0]!),
      text: String(text),
    }));
    found.sort((a, b) => a.name.localeCompare(b.name));
    const byEhr = grouped(found, ({ ehr }) => ehr);
    return new Map([...byEhr].map(([ehr, all]) => [ehr, all.map(({ name, text }) => `${name}: ${text}`)]));
  }

  /** Under which EHR each subject is found, whoever holds or reserves it. */
  private async subjects(): Promise<Json> {
    const found = await documents<EhrDoc>('ehrs')
      .find({ _id: { $in: this.ehrs } })
      .toArray();
    const subjects: Json = {};
    for (const { subject } of found) {
      if (subject === undefined) continue;
      const response = await request(this.app)
        .get(`${V1}/ehr`)
        .query({ subject_id: subject.id, subject_namespace: subject.namespace });
      const successor = /\/ehr\/([^>]+)>; rel="successor-version"/.exec(String(response.headers.link));
      const ehrId = response.status === 200 ? (response.body as Json).ehr_id.value : successor?.[1];
      subjects[subject.id.replace(this.suffix, '')] =
        `${response.status} ${this.nameOf(String(ehrId ?? ''))}`;
    }
    return subjects;
  }

  private readable(part: Json, { lists }: LeftOut): Json {
    const text = JSON.stringify(part, (key, value: unknown) => (key === 'uid' ? undefined : value));
    const named = this.names.inPlaceOfIds(text.replaceAll(this.suffix, ''));
    return JSON.parse(lists ? named.replaceAll(/\blist \d+/g, 'list') : named) as Json;
  }
}
