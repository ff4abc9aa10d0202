import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import type { EhrDoc } from '../../../models/ehr.js';
import type { MergeRecordDoc } from '../../../models/merge/record.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { attestation } from '../attestation.js';
import { admin, folder, givenUpdate, statusOf } from '../merge-http.js';
import { answered, aComposition, V1, type Json } from '../resources.js';
import { testSettings } from '../settings.js';

export const NOTE = 'minimal_evaluation.en.v1';
export const LIST = 'persistent_minimal.en.v1';

/** What a person does. `object`: a list or a note, by its name. */
export type Edit = EhrEdit | TagEdit | ObjectEdit | MoveEdit;

interface EhrEdit {
  readonly kind: 'status' | 'subject' | 'folder' | 'note' | 'directory' | 'no directory' | Flag;
  readonly ehr: number;
  readonly text: string;
}

/** What is switched in an EHR_STATUS. */
export type Flag = 'lock' | 'unlock' | 'hide' | 'show';

interface TagEdit {
  /** `version tag`: on its latest VERSION. `object`: `status 0` too. */
  readonly kind: 'tag' | 'version tag' | 'no tag';
  readonly object: string;
  readonly key: string;
  readonly text: string;
}

interface ObjectEdit {
  readonly kind: 'edit' | 'delete' | 'attest' | 'erase';
  readonly object: string;
  readonly text: string;
}

/** `keep`: an undo left it where it was, as somebody chose; else a person moved it. */
export interface MoveEdit {
  readonly kind: 'move' | 'keep';
  readonly object: string;
  readonly ehr: number;
  readonly text: string;
}

const FLAGS: Readonly<Record<Flag, readonly ['is_queryable' | 'is_modifiable', boolean]>> = {
  lock: ['is_modifiable', false],
  unlock: ['is_modifiable', true],
  hide: ['is_queryable', false],
  show: ['is_queryable', true],
};

/** What a locked EHR refuses of what is about an EHR. */
const CONTENT: readonly Edit['kind'][] = ['folder', 'note', 'directory', 'no directory'];

/** An identity that EHR_STATUS and candidates know. */
export function detailsOf(text: string): Json {
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
const auditOf = (change: Json): Json => ({
  _type: 'AUDIT_DETAILS',
  change_type: change,
  committer: { _type: 'PARTY_IDENTIFIED', name: 'somebody' },
});
const CREATION = auditOf(coded('249', 'creation'));
const MODIFICATION = auditOf(coded('251', 'modification'));
const STATES = { complete: coded('532', 'complete'), incomplete: coded('553', 'incomplete') };

/** A collection of the database as it is. */
export const documents = <T extends object>(name: string): mongoose.mongo.Collection<T> =>
  mongoose.connection.collection<T>(name);

/** A COMPOSITION that says nothing but a text. */
export function contentOf(template: string, text: string): Json {
  return { ...aComposition(template), composer: { _type: 'PARTY_IDENTIFIED', name: text } };
}

function needs(response: request.Response, ...statuses: number[]): void {
  const { method, url } = response.request as unknown as { method: string; url: string };
  if (!statuses.includes(response.status))
    throw new Error(`${method} ${url}: ${response.status} ${response.text}`);
}

/** Ids of what has a name, and names of what has an id. */
export class Names {
  private readonly ids = new Map<string, string>();
  private readonly names = new Map<string, string>();

  add(id: string, name: string): void {
    this.ids.set(name, id);
    this.names.set(id, name);
  }

  /** The object id of a name; empty where there is none. */
  idOf(name: string): string {
    return this.ids.get(name) ?? '';
  }

  /** The name of an object or EHR id; the id where it has none. */
  nameOf(id: string): string {
    return this.names.get(id) ?? id;
  }

  /** A text with names in place of ids. */
  inPlaceOfIds(text: string): string {
    let named = text;
    for (const [id, name] of this.names) named = named.replaceAll(id, name);
    return named;
  }
}

/**
 * What persons do in the EHRs of a script, over HTTP. `isForced`: a locked EHR is opened for it and locked again; so what was written
 * while an object was in another EHR is written in a world in which it never went there.
 */
export class Edits {
  constructor(
    private readonly app: RequestListener,
    /** Their ids, by their numbers. */
    private readonly ehrs: readonly string[],
    private readonly names: Names,
    /** Makes subjects those of one world. */
    private readonly suffix: string,
  ) {}

  /** false: there is nothing to change, or it cannot be changed. */
  async make(edit: Edit, isForced: boolean): Promise<boolean> {
    if ('object' in edit && 'ehr' in edit) return this.move(edit, isForced);
    if ('key' in edit) return this.tag(edit);
    if ('object' in edit) return this.object(edit, isForced);
    const ehr = await this.ehrDoc(this.ehrs[edit.ehr]!);
    if (ehr?.state !== 'active') return false;
    if (!CONTENT.includes(edit.kind)) return this.status(ehr, edit, isForced);
    return this.inOpen([ehr._id], isForced, () => this.content(edit));
  }

  /** Two objects of one EHR in one CONTRIBUTION. */
  async together(objects: readonly string[], text: string): Promise<boolean> {
    const containers = await Promise.all(objects.map((name) => this.live(name)));
    const [first, ...others] = containers;
    if (first == null || others.some((one) => one?.ehr_id !== first.ehr_id)) return false;
    const versions = containers.map((one) => ({
      _type: 'ORIGINAL_VERSION',
      preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: one!.latest_version_uid },
      lifecycle_state: STATES.complete,
      commit_audit: MODIFICATION,
      data: contentOf(one!.template_id!, text),
    }));
    return this.inOpen([first.ehr_id], false, async () => {
      await this.contribute(first.ehr_id, { _type: 'CONTRIBUTION', versions, audit: MODIFICATION });
      return true;
    });
  }

  async commit(ehr: number, versions: readonly Json[]): Promise<void> {
    await this.contribute(this.ehrs[ehr]!, { _type: 'CONTRIBUTION', versions, audit: CREATION });
  }

  /** A VERSION of a CONTRIBUTION, the first of an object with this name. */
  creation(name: string, data: Json, state: keyof typeof STATES = 'complete'): Json {
    const id = randomUUID();
    this.names.add(id, name);
    return {
      _type: 'ORIGINAL_VERSION',
      uid: { _type: 'OBJECT_VERSION_ID', value: `${id}::${SYSTEM}::1` },
      lifecycle_state: STATES[state],
      commit_audit: CREATION,
      data,
    };
  }

  private async contribute(ehrId: string, contribution: Json): Promise<void> {
    const path = `${V1}/ehr/${ehrId}/contribution`;
    needs(await answered(() => request(this.app).post(path).send(contribution)), 201);
  }

  private ehrDoc(ehrId: string): Promise<EhrDoc | null> {
    return documents<EhrDoc>('ehrs').findOne({ _id: ehrId });
  }

  private live(name: string): Promise<VersionedObjectDoc | null> {
    const _id = this.names.idOf(name);
    return documents<VersionedObjectDoc>('versioned_objects').findOne({ _id, deleted: false });
  }

  /** Writes to EHRs of which none may be locked. */
  private async inOpen(
    ehrIds: readonly string[],
    isForced: boolean,
    write: () => Promise<boolean>,
  ): Promise<boolean> {
    const found = await Promise.all(ehrIds.map((ehrId) => this.ehrDoc(ehrId)));
    const locked = found.flatMap((ehr) => (ehr?.is_modifiable === false ? [ehr._id] : []));
    if (locked.length > 0 && !isForced) return false;
    for (const ehrId of locked) await this.putStatus(ehrId, { is_modifiable: true });
    const done = await write();
    for (const ehrId of locked) await this.putStatus(ehrId, { is_modifiable: false });
    return done;
  }

  private async status(ehr: EhrDoc, { kind, text }: EhrEdit, isForced: boolean): Promise<boolean> {
    if (kind === 'status') await this.putStatus(ehr._id, { other_details: detailsOf(text) });
    else if (kind === 'subject')
      await this.putStatus(ehr._id, { subject: statusOf(`${text}.${this.suffix}`).subject as Json });
    else {
      const [field, value] = FLAGS[kind as Flag];
      // Who says what is so already changes nothing.
      if (!isForced && ehr[field] === value) return false;
      await this.putStatus(ehr._id, { [field]: value });
    }
    return true;
  }

  private async putStatus(ehrId: string, fields: Json): Promise<void> {
    const path = `${V1}/ehr/${ehrId}/ehr_status`;
    const now = await request(this.app).get(path);
    const put = request(this.app).put(path).set('If-Match', String(now.headers.etag));
    needs(await put.send({ ...(now.body as Json), ...fields }), 200, 204);
  }

  private async content({ kind, ehr, text }: EhrEdit): Promise<boolean> {
    if (kind === 'note') {
      await this.commit(ehr, [this.creation(`note ${text}`, contentOf(NOTE, text))]);
      return true;
    }
    const path = `${V1}/ehr/${this.ehrs[ehr]!}/directory`;
    const now = await request(this.app).get(path);
    if ((now.status === 200) === (kind === 'directory')) return false;
    const etag = String(now.headers.etag);
    if (kind === 'directory') {
      const root = folder(text, [this.names.idOf(`note ${ehr}`)]);
      needs(await request(this.app).post(path).send(root), 201);
    } else if (kind === 'no directory') {
      needs(await request(this.app).delete(path).set('If-Match', etag), 204);
    } else {
      const root = now.body as Json;
      const changed = { ...root, folders: [...((root.folders as Json[] | undefined) ?? []), folder(text)] };
      needs(await request(this.app).put(path).set('If-Match', etag).send(changed), 200, 204);
    }
    return true;
  }

  private async object({ kind, object, text }: ObjectEdit, isForced: boolean): Promise<boolean> {
    const container = await this.live(object);
    if (container === null || (kind === 'delete' && !isForced && (await this.isApart(container._id))))
      return false;
    const { _id: id, ehr_id: ehrId, latest_version_uid: uid, template_id: template } = container;
    if (kind === 'erase') {
      needs(await admin(this.app, 'delete', `/ehr/${ehrId}/composition/${id}`), 200, 204, 404);
      return true;
    }
    return this.inOpen([ehrId], isForced, async () => {
      if (kind === 'attest') await this.contribute(ehrId, attestation(uid));
      else if (kind === 'edit') await givenUpdate(this.app, ehrId, uid, contentOf(template!, text));
      else needs(await request(this.app).delete(`${V1}/ehr/${ehrId}/composition/${uid}`), 204);
      return true;
    });
  }

  /** Whether a merge that stands left compositions apart because of this one: who deletes it then leaves them so. */
  private async isApart(id: string): Promise<boolean> {
    const found = await documents<MergeRecordDoc>('merge_records').findOne({
      source_ehr: { $in: [...this.ehrs] },
      $or: [{ 'apart.source': id }, { 'apart.targets': id }],
    });
    return found !== null;
  }

  private async tag({ kind, object, key, text }: TagEdit): Promise<boolean> {
    const container = await this.live(object);
    if (container === null) return false;
    const { _id: id, ehr_id: ehrId, type, latest_version_uid: uid } = container;
    if ((await this.ehrDoc(ehrId))?.state !== 'active') return false;
    const resource = type === 'EHR_STATUS' ? 'ehr_status' : 'composition';
    // There is one tag of a key.
    const known = `${V1}/ehr/${ehrId}/${resource}/${id}/tags/${key}`;
    if (kind !== 'version tag') needs(await request(this.app).delete(known), 204, 404);
    if (kind === 'no tag') return true;
    const path = `/rest/experimental/tags/ehr/${ehrId}/${resource}/${kind === 'tag' ? id : uid}/item_tag`;
    needs(
      await request(this.app)
        .put(path)
        .send([{ key, value: text }]),
      200,
    );
    return true;
  }

  private async move({ kind, object, ehr }: MoveEdit, isForced: boolean): Promise<boolean> {
    const _id = this.names.idOf(object);
    const container = await documents<VersionedObjectDoc>('versioned_objects').findOne({ _id });
    const target = this.ehrs[ehr]!;
    if (container === null || container.ehr_id === target || (kind === 'move' && container.deleted))
      return false;
    if ((await this.ehrDoc(target))?.state !== 'active') return false;
    const source = container.ehr_id;
    return this.inOpen([source, target], isForced, async () => {
      const path = `/ehr/${source}/composition/${_id}/move`;
      const response = await admin(this.app, 'post', path).send({ target_ehr: target });
      // Sent again to a database that fails it may be there already.
      const now = await documents<VersionedObjectDoc>('versioned_objects').findOne({ _id });
      if (now?.ehr_id !== target) needs(response, 200);
      return true;
    });
  }
}
