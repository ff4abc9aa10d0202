import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import request, { type Response, type Test } from 'supertest';
import { fixtureText } from '../fixture.js';
import { secondOpt } from './revisions.js';
import { aComposition, givenEhr, V1, versionedObjectUidOf, versionUidOf, type Json } from '../resources.js';
import { ADMIN } from '../tokens.js';

/** The public template of which there are two revisions here, under ids of their own. */
const REVISED = 'minimal_evaluation.en.v1';
const EVALUATION = 'openEHR-EHR-EVALUATION.minimal.v1';
/** What makes data of the first revision those of the second. */
export const IN_GRAMS = {
  rules: [
    { unit: `/content[${EVALUATION}]/data[at0001]/items[at0002]/value`, from: 'gm', to: 'g', factor: 1 },
  ],
};

const named = (opt: string, id: string): string =>
  opt.replaceAll(`<value>${REVISED}</value>`, `<value>${id}</value>`);

/** The texts of a template with an id of its own; the second knows grams by another unit. */
export function revisionTexts(id: string): readonly [first: string, second: string] {
  return [
    named(fixtureText(`opt/${REVISED}.opt`), id),
    named(secondOpt('a unit is replaced by another'), id),
  ];
}

/** The second revision, in which FLAT knows the quantity by another key. */
export function renamedText(id: string): string {
  return revisionTexts(id)[1].replaceAll('>quantity<', '>mass<');
}

/** A COMPOSITION of the template whose mass is in these units. */
export function massIn(units: string, id: string): Json {
  const text = JSON.stringify(aComposition(REVISED)).replaceAll(REVISED, id);
  return JSON.parse(text.replace('"units":"kg"', `"units":"${units}"`)) as Json;
}

/** A COMPOSITION, and its EHR. */
export interface Made {
  readonly ehrId: string;
  readonly uid: string;
}

/** A server with revisions, and what is asked of it about them. */
export class RevisedData {
  constructor(readonly app: RequestListener) {}

  upload(opt: string): Test {
    return request(this.app)
      .post(`${V1}/definition/template/adl1.4`)
      .set({ 'Content-Type': 'application/xml', Authorization: ADMIN })
      .send(opt);
  }

  admin(path: string, body: object | string = {}): Test {
    const type = typeof body === 'string' ? 'application/xml' : 'application/json';
    return request(this.app)
      .post(`/rest/admin/template/${path}`)
      .set({ Authorization: ADMIN, 'Content-Type': type })
      .send(body);
  }

  get(path: string): Test {
    return request(this.app).get(`/rest/admin/template/${path}`).set('Authorization', ADMIN);
  }

  async commit(composition: object, ehrId?: string, headers: Record<string, string> = {}): Promise<Made> {
    const owner = ehrId ?? (await givenEhr(this.app));
    const made = await request(this.app)
      .post(`${V1}/ehr/${owner}/composition`)
      .set(headers)
      .send(composition);
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
    return { ehrId: owner, uid: versionUidOf(made) };
  }

  /** COMPOSITIONs of the first revision in EHRs of their own, each in these units; then there is a second one. */
  async given(id: string, ...units: readonly string[]): Promise<Made[]> {
    const [first, second] = revisionTexts(id);
    await this.upload(first);
    const made: Made[] = [];
    for (const unit of units) made.push(await this.commit(massIn(unit, id)));
    await this.upload(second);
    return made;
  }

  /** Begins an upgrade as it is planned. Gives the job. */
  async upgrade(id: string): Promise<string> {
    const { body: plan } = await this.admin(`${id}/upgrade?dry_run=true`, IN_GRAMS);
    const { hash } = plan as { hash: string };
    const begun = await this.admin(`${id}/upgrade`, { ...IN_GRAMS, hash });
    if (begun.status !== 202) throw new Error(`${begun.status} ${begun.text}`);
    return (begun.body as { job: string }).job;
  }

  /** A job below a template, once it is in none of these states any more. */
  async settled(path: string, states: readonly string[] = ['running', 'undoing']): Promise<Json> {
    for (;;) {
      const { body } = (await this.get(path)) as { body: Json };
      if (!states.includes(body.state as string)) return body;
      await setTimeout(20);
    }
  }

  latest({ ehrId, uid }: Made): Promise<Response> {
    return request(this.app).get(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`);
  }
}

/** The digest that a VERSION notes. */
export async function notedDigest(uid: string): Promise<string | undefined> {
  const versions = mongoose.connection.collection<{ _id: string; template_digest?: string }>('versions');
  return (await versions.findOne({ _id: uid }))?.template_digest;
}
