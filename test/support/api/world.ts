import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import request from 'supertest';

import { fixtureText } from '../fixture.js';
import {
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
} from '../resources.js';

/** Template of the COMPOSITIONs that the cases commit. */
export const TEMPLATE = 'minimal_evaluation.en.v1';
/** A query that any database answers. */
export const AQL = 'SELECT e/ehr_id/value FROM EHR e';
/** With more nodes of expressions than a query may have. */
export const LARGE_AQL = `SELECT CONCAT(e/ehr_id/value${", 'a'".repeat(6_000)}) FROM EHR e`;
/** A directory without content. */
export const FOLDER = {
  _type: 'FOLDER',
  name: { _type: 'DV_TEXT', value: 'root' },
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
};
/** An EHR_STATUS of nobody. */
export const STATUS = {
  _type: 'EHR_STATUS',
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  archetype_details: {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: 'openEHR-EHR-EHR_STATUS.generic.v1' },
    rm_version: '1.0.4',
  },
  name: { _type: 'DV_TEXT', value: 'EHR Status' },
  subject: { _type: 'PARTY_SELF' },
  is_queryable: true,
  is_modifiable: true,
};

/** A status whose patient is `id`. */
export function statusOf(id: string): object {
  const external_ref = {
    _type: 'PARTY_REF',
    id: { _type: 'GENERIC_ID', value: id, scheme: 'id_scheme' },
    namespace: 'hospital',
    type: 'PERSON',
  };
  return { ...STATUS, subject: { _type: 'PARTY_SELF', external_ref } };
}

/** A CONTRIBUTION that creates one object. */
export function creation(data: object): object {
  const change_type = {
    _type: 'DV_CODED_TEXT',
    value: 'creation',
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: '249',
    },
  };
  const versions = [
    { _type: 'ORIGINAL_VERSION', commit_audit: { _type: 'AUDIT_DETAILS', change_type }, data },
  ];
  return { _type: 'CONTRIBUTION', versions };
}

/** Everything that the cases stand on, made through the API itself. */
export class World {
  constructor(readonly app: RequestListener) {}

  readonly ehr = (status?: object): Promise<string> => givenEhr(this.app, status);

  async frozenEhr(): Promise<string> {
    return this.ehr({ ...STATUS, is_modifiable: false });
  }

  async status(): Promise<{ ehr_id: string; version_uid: string; versioned_object_uid: string }> {
    const ehr_id = await this.ehr();
    const version_uid = versionUidOf(await request(this.app).get(`${V1}/ehr/${ehr_id}/ehr_status`));
    return { ehr_id, version_uid, versioned_object_uid: versionedObjectUidOf(version_uid) };
  }

  async composition(): Promise<{ ehr_id: string; version_uid: string; versioned_object_uid: string }> {
    await givenTemplate(this.app, TEMPLATE);
    const ehr_id = await this.ehr();
    const version_uid = await givenComposition(this.app, ehr_id);
    return { ehr_id, version_uid, versioned_object_uid: versionedObjectUidOf(version_uid) };
  }

  async deletedComposition(): Promise<{ ehr_id: string; version_uid: string; versioned_object_uid: string }> {
    const { ehr_id, version_uid, versioned_object_uid } = await this.composition();
    const gone = await request(this.app).delete(`${V1}/ehr/${ehr_id}/composition/${version_uid}`);
    return { ehr_id, version_uid: versionUidOf(gone), versioned_object_uid };
  }

  async directory(): Promise<{ ehr_id: string; version_uid: string }> {
    const ehr_id = await this.ehr();
    const made = await request(this.app).post(`${V1}/ehr/${ehr_id}/directory`).send(FOLDER);
    return { ehr_id, version_uid: versionUidOf(made) };
  }

  async deletedDirectory(): Promise<{ ehr_id: string; version_uid: string }> {
    const { ehr_id, version_uid } = await this.directory();
    const gone = await request(this.app).delete(`${V1}/ehr/${ehr_id}/directory`).set('If-Match', version_uid);
    return { ehr_id, version_uid: versionUidOf(gone) };
  }

  async contribution(): Promise<{ ehr_id: string; contribution_uid: string; contribution_id: string }> {
    const ehr_id = await this.ehr();
    const list = await request(this.app).get(`${V1}/ehr/${ehr_id}?include=contributions`);
    const uid =
      (list.body as { contributions: { id: { value: string } }[] }).contributions[0]?.id.value ?? '';
    return { ehr_id, contribution_uid: uid, contribution_id: uid };
  }

  async query(): Promise<{ qualified_query_name: string; version: string }> {
    const qualified_query_name = `org.example::q${randomUUID()}`;
    const path = `${V1}/definition/query/${qualified_query_name}/1.0.0`;
    await request(this.app).put(path).set('Content-Type', 'text/plain').send(AQL);
    return { qualified_query_name, version: '1.0.0' };
  }

  /** The template of the fixtures under a fresh id; not stored. */
  opt(): { templateId: string; text: string } {
    const templateId = `t.${randomUUID()}`;
    return {
      templateId,
      text: fixtureText(`opt/${TEMPLATE}.opt`).replace(
        `<value>${TEMPLATE}</value>`,
        `<value>${templateId}</value>`,
      ),
    };
  }

  async template(): Promise<{ template_id: string; text: string }> {
    const { templateId, text } = this.opt();
    await request(this.app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(text);
    return { template_id: templateId, text };
  }
}
