import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import type { EhrDoc } from '../../../models/ehr.js';
import type { ItemTagDoc } from '../../../models/item-tag.js';
import type { MergeRecordDoc } from '../../../models/merge/record.js';
import { versionsByUid } from '../../../models/version.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { testSettings } from '../settings.js';
import { folder, givenTag, givenUpdate, merge, rows, statusOf } from '../merge-http.js';
import { answered, aComposition, givenEhr, V1, type Json } from '../resources.js';

const NOTE = 'minimal_evaluation.en.v1';
const LIST = 'persistent_minimal.en.v1';

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

/** What a person does. `object`: a list or a note, by its name. */
export type Edit = EhrEdit | ObjectEdit;

interface EhrEdit {
  readonly kind: 'status' | 'subject' | 'status tag' | 'folder' | 'note';
  readonly ehr: number;
  readonly text: string;
}

interface ObjectEdit {
  readonly kind: 'edit' | 'tag' | 'delete';
  readonly object: string;
  readonly text: string;
}

/** An identity that EHR_STATUS and candidates know. */
function detailsOf(text: string): Json {
  const value = { _type: 'DV_TEXT', value: text };
  const item = {
    _type: 'ELEMENT',
    archetype_node_id: 'at0001',
    name: { _type: 'DV_TEXT', value: 'id' },
    value,
  };
  const name = { _type: 'DV_TEXT', value: 'details' };
  return { _type: 'ITEM_TREE', archetype_node_id: 'at0000', name, items: [item] };
}

const SYSTEM = testSettings().systemId;
const coded = (code: string, value: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string: code,
  },
});
const CREATION: Json = {
  _type: 'AUDIT_DETAILS',
  change_type: coded('249', 'creation'),
  committer: { _type: 'PARTY_IDENTIFIED', name: 'somebody' },
};

/** A row about a version of an object. */
interface Found {
  readonly name: string;
  readonly version: number;
  readonly ehr: string;
  readonly cells: readonly unknown[];
}

const documents = <T extends object>(name: string): mongoose.mongo.Collection<T> =>
  mongoose.connection.collection<T>(name);

/**
 * EHRs of a script in the product, used over HTTP. Objects have names (`list 0`, `note 2`), so that the same script in other
 * EHRs is the same but for its ids.
 */
export class World {
  readonly ehrs: string[] = [];
  private readonly ids = new Map<string, string>();
  private readonly names = new Map<string, string>();

  constructor(
    private readonly app: RequestListener,
    /** Makes the subjects of this world its own. */
    private readonly suffix: string,
  ) {}

  async begin(originals: readonly Original[]): Promise<void> {
    const details = (number: number) => ({ other_details: detailsOf(`identity ${number}`) });
    const made = originals.map((_, number) =>
      givenEhr(this.app, statusOf(`${number}.${this.suffix}`, details(number))),
    );
    this.ehrs.push(...(await Promise.all(made)));
    for (const [number, ehrId] of this.ehrs.entries()) this.names.set(ehrId, `EHR ${number}`);
    // One after the other: which of two lists is the later one must be the same in every world.
    for (const [number, original] of originals.entries()) await this.fill(number, original);
    const tagged = [...originals.entries()].filter(([, { hasTag, list }]) => hasTag && list !== 'none');
    await Promise.all(
      tagged.map(([number]) => this.edit({ kind: 'tag', object: `list ${number}`, text: `tag-${number}` })),
    );
    const found = documents<EhrDoc>('ehrs').find({ _id: { $in: this.ehrs } });
    for await (const { _id, ehr_status_id: id } of found) this.name(id, `status ${this.ehrs.indexOf(_id)}`);
  }

  private fill(number: number, { list, hasDirectory }: Original): Promise<void> {
    const made = [this.creation(`note ${number}`, contentOf(NOTE, `note ${number}`))];
    if (list !== 'none') made.push(this.creation(`list ${number}`, contentOf(LIST, `list ${number}`), list));
    if (hasDirectory) made.push(this.creation(`directory ${number}`, this.rootOf(number)));
    return this.commit(number, made);
  }

  /** The object id of a name. */
  idOf(name: string): string {
    return this.ids.get(name) ?? '';
  }

  /** The name of an object or EHR id; the id where it has none. */
  nameOf(id: string): string {
    return this.names.get(id) ?? id;
  }

  /** Numbers of the EHRs that are not merged away. */
  async active(): Promise<number[]> {
    const found = await documents<EhrDoc>('ehrs')
      .find({ _id: { $in: this.ehrs }, state: 'active' })
      .toArray();
    const ids = new Set(found.map(({ _id }) => _id));
    return this.ehrs.flatMap((ehrId, number) => (ids.has(ehrId) ? [number] : []));
  }

  /** false: there is nothing to change, or it cannot be changed. */
  async edit(edit: Edit): Promise<boolean> {
    if (!('ehr' in edit)) return this.editObject(edit);
    const { kind, ehr, text } = edit;
    if (!(await this.active()).includes(ehr)) return false;
    if (kind === 'folder') return this.addFolder(ehr, text);
    if (kind === 'note') await this.commit(ehr, [this.creation(`note ${text}`, contentOf(NOTE, text))]);
    else if (kind === 'status tag')
      await givenTag(
        this.app,
        { ehrId: this.ehrs[ehr]!, type: 'ehr_status', uid: this.idOf(`status ${ehr}`) },
        text,
      );
    else await this.editStatus(ehr, kind, text);
    return true;
  }

  merge({ source, target, body }: MergeStep): Promise<request.Response> {
    return answered(() => merge(this.app, this.ehrs[source]!, this.ehrs[target]!, body));
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

  /**
   * Everything that a clinician or a registry sees, without ids: by EHR. Of the history of what is live the versions that persons made,
   * but `leftOut`: those of which an undo gave the content to another object.
   */
  async state(leftOut: ReadonlySet<string> = new Set()): Promise<Json> {
    const state: Json = {};
    const numbers = await this.active();
    const live = await this.found(numbers, 'COMPOSITION c', 'c/composer/name');
    const all = await this.found(
      numbers,
      'VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c',
      'c/composer/name, v/commit_audit/description/value',
    );
    const objects = await this.ownObjects(numbers);
    for (const number of numbers) {
      const ehrId = this.ehrs[number]!;
      const tags = await documents<ItemTagDoc>('item_tags').find({ owner_id: ehrId }).toArray();
      const own = live.filter(({ ehr }) => ehr === ehrId);
      const names = new Set(own.map(({ name }) => name));
      const byPersons = all.filter(
        ({ ehr, name, cells: [text, why] }) =>
          ehr === ehrId &&
          names.has(name) &&
          !leftOut.has(String(text)) &&
          !/^(Merge|Unmerge) of EHR/.test(String(why)),
      );
      state[`EHR ${number}`] = {
        compositions: own.map(({ name, cells: [text] }) => `${name}: ${String(text)}`).sort(),
        history: byPersons.map(({ name, cells: [text] }) => `${name}: ${String(text)}`),
        ...objects.get(ehrId),
        tags: tags.map(({ target, key }) => `${this.nameOf(target)} ${key}`).sort(),
      };
    }
    return { ...state, subjects: await this.subjects() };
  }

  /** The EHR_STATUS of EHRs and their directories, by EHR id: what stands in their latest versions. */
  private async ownObjects(numbers: readonly number[]): Promise<ReadonlyMap<string, Json>> {
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
      latest.map(({ object_id: id, data }) => [id, this.readable(JSON.parse(data!) as Json)]),
    );
    return new Map(
      ehrs.map(({ _id, ehr_status_id: status, directory_id: directory = '' }) => [
        _id,
        { status: contents.get(status), directory: contents.get(directory) ?? null },
      ]),
    );
  }

  /** Cells of what EHRs hold, by the name of the object, the oldest version first. */
  private async found(numbers: readonly number[], from: string, select: string): Promise<Found[]> {
    const ids = numbers.map((number) => `'${this.ehrs[number]!}'`).join();
    const q = `SELECT c/uid/value, e/ehr_id/value, ${select} FROM EHR e CONTAINS ${from} WHERE e/ehr_id/value matches {${ids}}`;
    const found = (await rows(this.app, q)).map(([uid, ehr, ...cells]) => {
      const [id = '', , version] = String(uid).split('::');
      return { name: this.nameOf(id), version: Number(version), ehr: String(ehr), cells };
    });
    return found.sort((a, b) => a.name.localeCompare(b.name) || a.version - b.version);
  }

  /** Under which EHR each subject is found, whoever holds or reserves it. */
  private async subjects(): Promise<Json> {
    const found = await documents<EhrDoc>('ehrs')
      .find({ _id: { $in: this.ehrs } })
      .toArray();
    const into = new Map(found.map(({ _id, merged_into: target }) => [_id, target]));
    const last = (ehrId: string): string => (into.get(ehrId) === undefined ? ehrId : last(into.get(ehrId)!));
    return Object.fromEntries(
      found.flatMap(({ _id, subject }) =>
        subject === undefined ? [] : [[subject.id.replace(this.suffix, ''), this.nameOf(last(_id))]],
      ),
    );
  }

  private readable(part: Json): Json {
    const text = JSON.stringify(part, (key, value: unknown) => (key === 'uid' ? undefined : value));
    let named = text.replaceAll(this.suffix, '');
    for (const [id, name] of this.names) named = named.replaceAll(id, name);
    return JSON.parse(named) as Json;
  }

  private name(id: string, name: string): void {
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  /** A VERSION of a CONTRIBUTION, the first of an object with this name. */
  private creation(name: string, data: Json, state: 'complete' | 'incomplete' = 'complete'): Json {
    const id = randomUUID();
    this.name(id, name);
    return {
      _type: 'ORIGINAL_VERSION',
      uid: { _type: 'OBJECT_VERSION_ID', value: `${id}::${SYSTEM}::1` },
      lifecycle_state: coded(state === 'complete' ? '532' : '553', state),
      commit_audit: CREATION,
      data,
    };
  }

  private async commit(ehr: number, versions: readonly Json[]): Promise<void> {
    const response = await request(this.app)
      .post(`${V1}/ehr/${this.ehrs[ehr]!}/contribution`)
      .send({ _type: 'CONTRIBUTION', versions, audit: CREATION });
    if (response.status !== 201) throw new Error(response.text);
  }

  private async editObject({ kind, object, text }: ObjectEdit): Promise<boolean> {
    const container = await documents<VersionedObjectDoc>('versioned_objects').findOne({
      _id: this.idOf(object),
      deleted: false,
    });
    if (container === null) return false;
    const { ehr_id: ehrId, latest_version_uid: uid } = container;
    if (kind === 'tag') await givenTag(this.app, { ehrId, type: 'composition', uid: container._id }, text);
    else if (kind === 'delete') {
      const deleted = await request(this.app).delete(`${V1}/ehr/${ehrId}/composition/${uid}`);
      if (deleted.status !== 204) throw new Error(deleted.text);
    } else await givenUpdate(this.app, ehrId, uid, contentOf(container.template_id!, text));
    return true;
  }

  private async editStatus(ehr: number, kind: 'status' | 'subject', text: string): Promise<void> {
    const path = `${V1}/ehr/${this.ehrs[ehr]!}/ehr_status`;
    const now = await request(this.app).get(path);
    const field =
      kind === 'status'
        ? { other_details: detailsOf(text) }
        : { subject: statusOf(`${text}.${this.suffix}`).subject as Json };
    const put = await request(this.app)
      .put(path)
      .set('If-Match', String(now.headers.etag))
      .send({ ...(now.body as Json), ...field });
    if (put.status >= 300) throw new Error(put.text);
  }

  private async addFolder(ehr: number, text: string): Promise<boolean> {
    const path = `${V1}/ehr/${this.ehrs[ehr]!}/directory`;
    const now = await request(this.app).get(path);
    if (now.status !== 200) return false;
    const root = now.body as Json;
    const changed = { ...root, folders: [...((root.folders as Json[] | undefined) ?? []), folder(text)] };
    const put = await request(this.app).put(path).set('If-Match', String(now.headers.etag)).send(changed);
    if (put.status >= 300) throw new Error(put.text);
    return true;
  }

  private rootOf(number: number): Json {
    const notes = [this.idOf(`note ${number}`), this.idOf(`list ${number}`)].filter((id) => id !== '');
    return folder(`directory ${number}`, notes, [folder(`inner ${number}`)]);
  }
}

function contentOf(template: string, text: string): Json {
  return { ...aComposition(template), composer: { _type: 'PARTY_IDENTIFIED', name: text } };
}
