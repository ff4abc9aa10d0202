import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import request from 'supertest';
import { fixtureJson, fixtureText } from './fixture.js';

/** Prefix of the standard API. */
export const V1 = '/rest/openehr/v1';

/** JSON of a test, read and changed freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests reach into any depth of it
export type Json = Record<string, any>;

/** A canonical COMPOSITION of the fixtures without its uid. */
export function aComposition(name = 'minimal_evaluation.en.v1'): Json {
  const composition: Json = fixtureJson(`composition/${name}.json`);
  delete composition.uid;
  return composition;
}

/**
 * Asks again while the database has no time for it, which says that nothing was done: that of a run is one for all files, and what
 * one of them reads whole makes commits of the others wait.
 */
export async function answered(ask: () => request.Test): Promise<request.Response> {
  for (let attempts = 1; ; attempts += 1) {
    const answer = await ask();
    if (answer.status !== 503 || (answer.body as Json).code !== 'unavailable' || attempts === 60)
      return answer;
    await setTimeout(1_000);
  }
}

/** Uploads a template of the fixtures. */
export async function givenTemplate(app: RequestListener, name = 'minimal_evaluation.en.v1'): Promise<void> {
  const response = await answered(() =>
    request(app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(fixtureText(`opt/${name}.opt`)),
  );
  if (response.status !== 201 && response.status !== 409)
    throw new Error(`template ${name}: ${response.status} ${response.text}`);
}

/** Makes an EHR and gives its id. */
export async function givenEhr(app: RequestListener, status?: object): Promise<string> {
  const response = await answered(() => request(app).post(`${V1}/ehr`).send(status));
  if (response.status !== 201) throw new Error(`EHR: ${response.status} ${response.text}`);
  return versionUidOf(response);
}

/** Makes a COMPOSITION and gives its version uid. */
export async function givenComposition(
  app: RequestListener,
  ehrId: string,
  composition: object = aComposition(),
): Promise<string> {
  const response = await answered(() =>
    request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition),
  );
  if (response.status !== 201) throw new Error(`COMPOSITION: ${response.status} ${response.text}`);
  return versionUidOf(response);
}

/** The id that an answer names in its ETag, strong or weak. */
export function versionUidOf(response: { headers: Record<string, string> }): string {
  return String(response.headers.etag).replace(/^W\//, '').replaceAll('"', '');
}

/** Container part of a version uid. */
export function versionedObjectUidOf(versionUid: string): string {
  return versionUid.split('::')[0] ?? '';
}

/**
 * Everything in the database but caches of shapes and the audit, which knows of refusals too, to compare before and after a refused
 * request. One command for all collections, since tests by the hundred ask for it.
 */
export async function dump(): Promise<string> {
  const { db } = mongoose.connection;
  if (db === undefined) throw new Error('not connected');
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !['aql_shapes', 'audit'].includes(name));
  const all = Object.fromEntries(names.sort().map((name) => [name, [] as unknown[]]));
  const pipeline = names.map((coll) => ({
    $unionWith: {
      coll,
      pipeline: [{ $sort: { _id: 1 } }, { $project: { _id: 0, coll: { $literal: coll }, stored: '$$ROOT' } }],
    },
  }));
  const found = db.aggregate<{ coll: string; stored: unknown }>([{ $documents: [] }, ...pipeline]);
  for await (const { coll, stored } of found) all[coll]?.push(stored);
  return JSON.stringify(all);
}
