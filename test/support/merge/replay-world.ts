import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import type { EhrDoc } from '../../../models/ehr.js';
import type { ItemTagDoc } from '../../../models/item-tag.js';
import type { MergeRecordDoc } from '../../../models/merge/record.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { folder, givenTag, givenUpdate, merge, rows, statusOf } from '../merge-http.js';
import { aComposition, givenEhr, versionedObjectUidOf, versionUidOf, V1, type Json } from '../resources.js';

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
export type Edit =
  | { readonly kind: 'edit'; readonly object: string; readonly text: string }
  | { readonly kind: 'status' | 'folder' | 'note'; readonly ehr: number; readonly text: string }
  | { readonly kind: 'tag'; readonly object: string; readonly text: string };

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
    for (const [number, original] of originals.entries()) {
      const status = statusOf(`${number}.${this.suffix}`, { other_details: detailsOf(`identity ${number}`) });
      const ehrId = await givenEhr(this.app, status);
      this.ehrs.push(ehrId);
      this.names.set(ehrId, `EHR ${number}`);
      await this.create(number, `note ${number}`, { template: NOTE });
      if (original.list !== 'none')
        await this.create(number, `list ${number}`, {
          template: LIST,
          state: original.list === 'complete' ? '532' : '553',
        });
      if (original.hasTag && original.list !== 'none')
        await this.edit({ kind: 'tag', object: `list ${number}`, text: `tag-${number}` });
      if (original.hasDirectory) await this.putDirectory(number, this.rootOf(number), null);
    }
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
    if (edit.kind === 'edit' || edit.kind === 'tag') return this.editObject(edit);
    if (!(await this.active()).includes(edit.ehr)) return false;
    if (edit.kind === 'note') {
      await this.create(edit.ehr, `note ${edit.text}`, { template: NOTE, text: edit.text });
      return true;
    }
    return edit.kind === 'status'
      ? this.editStatus(edit.ehr, edit.text)
      : this.addFolder(edit.ehr, edit.text);
  }

  merge({ source, target, body }: MergeStep): request.Test {
    return merge(this.app, this.ehrs[source]!, this.ehrs[target]!, body);
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

  /** Everything that a clinician or a registry sees, without ids: by EHR. */
  async state(): Promise<Json> {
    const state: Json = {};
    for (const number of await this.active()) {
      const ehrId = this.ehrs[number]!;
      const found = await rows(
        this.app,
        'SELECT c/uid/value, c/composer/name FROM EHR e CONTAINS COMPOSITION c',
        ehrId,
      );
      const status = (await request(this.app).get(`${V1}/ehr/${ehrId}/ehr_status`)).body as Json;
      const directory = await request(this.app).get(`${V1}/ehr/${ehrId}/directory`);
      const tags = await documents<ItemTagDoc>('item_tags').find({ owner_id: ehrId }).toArray();
      state[`EHR ${number}`] = {
        compositions: found
          .map(([uid, text]) => `${this.nameOf(versionedObjectUidOf(String(uid)))}: ${String(text)}`)
          .sort(),
        status: this.readable({ ...status, uid: null }),
        directory: directory.status === 200 ? this.readable(directory.body as Json) : null,
        tags: tags.map(({ target, key }) => `${this.nameOf(target)} ${key}`).sort(),
      };
    }
    return { ...state, subjects: await this.subjects() };
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

  private async create(
    ehr: number,
    name: string,
    { template, state = '532', text = name }: { template: string; state?: string; text?: string },
  ): Promise<void> {
    const response = await request(this.app)
      .post(`${V1}/ehr/${this.ehrs[ehr]!}/composition`)
      .set('openehr-version', `lifecycle_state.code_string="${state}"`)
      .send(contentOf(template, text));
    if (response.status !== 201) throw new Error(response.text);
    const id = versionedObjectUidOf(versionUidOf(response));
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  private async editObject({ kind, object, text }: Extract<Edit, { object: string }>): Promise<boolean> {
    const container = await documents<VersionedObjectDoc>('versioned_objects').findOne({
      _id: this.idOf(object),
      deleted: false,
    });
    if (container === null) return false;
    const { ehr_id: ehrId, latest_version_uid: uid } = container;
    if (kind === 'tag') await givenTag(this.app, { ehrId, type: 'composition', uid: container._id }, text);
    else await givenUpdate(this.app, ehrId, uid, contentOf(container.template_id!, text));
    return true;
  }

  private async editStatus(ehr: number, text: string): Promise<boolean> {
    const path = `${V1}/ehr/${this.ehrs[ehr]!}/ehr_status`;
    const now = await request(this.app).get(path);
    const changed = { ...(now.body as Json), other_details: detailsOf(text) };
    const put = await request(this.app).put(path).set('If-Match', String(now.headers.etag)).send(changed);
    if (put.status >= 300) throw new Error(put.text);
    return true;
  }

  private async addFolder(ehr: number, text: string): Promise<boolean> {
    const now = await request(this.app).get(`${V1}/ehr/${this.ehrs[ehr]!}/directory`);
    if (now.status !== 200) return false;
    const root = now.body as Json;
    const changed = { ...root, folders: [...((root.folders as Json[] | undefined) ?? []), folder(text)] };
    await this.putDirectory(ehr, changed, String(now.headers.etag));
    return true;
  }

  private rootOf(number: number): Json {
    const notes = [this.idOf(`note ${number}`), this.idOf(`list ${number}`)].filter((id) => id !== '');
    return folder(`directory ${number}`, notes, [folder(`inner ${number}`)]);
  }

  private async putDirectory(ehr: number, root: Json, etag: string | null): Promise<void> {
    const path = `${V1}/ehr/${this.ehrs[ehr]!}/directory`;
    const call =
      etag === null ? request(this.app).post(path) : request(this.app).put(path).set('If-Match', etag);
    const response = await call.send(root);
    if (response.status >= 300) throw new Error(response.text);
  }
}

function contentOf(template: string, text: string): Json {
  return { ...aComposition(template), composer: { _type: 'PARTY_IDENTIFIED', name: text } };
}
