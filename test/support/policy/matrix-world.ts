import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { FOLDER } from '../api/world.js';
import { aComposition, V1, versionedObjectUidOf, versionUidOf } from '../resources.js';
import { putMarks } from './marks.js';
import type { Mark } from './matrix-model.js';
import { statusOf, withContainers, type Names } from './unseen-world.js';

/** Makes an EHR with one object of each kind, a tag and, maybe, a mark on all of it. Gives the names of what is in it. */
export async function markedEhr(
  {
    open,
    app,
    token,
  }: { readonly open: RequestListener; readonly app: RequestListener; readonly token: string },
  mark: Mark,
): Promise<Names> {
  const subject = randomUUID();
  const post = (path: string, body: object) => request(open).post(`${V1}/ehr${path}`).send(body).expect(201);
  const ehr = versionUidOf(await post('', statusOf(subject, subject)));
  const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
  const composition = versionUidOf(await post(`/${ehr}/composition`, aComposition()));
  const directory = versionUidOf(await post(`/${ehr}/directory`, FOLDER));
  const container = versionedObjectUidOf(composition);
  await request(open)
    .put(`${V1}/ehr/${ehr}/composition/${container}/tags`)
    .send([{ key: 'status', value: 'mine' }])
    .expect(200);
  const version = await request(open)
    .get(`${V1}/ehr/${ehr}/versioned_composition/${container}/version/${composition}`)
    .expect(200);
  if (mark !== 'none') await putMarks(app, ehr, [{ kind: mark, ground: 'matrix' }], token).expect(200);
  return withContainers({
    subject,
    ehr,
    contribution_of_ehr: (version.body as { contribution: { id: { value: string } } }).contribution.id.value,
    ehr_status_uid: status,
    composition_of_ehr_uid: composition,
    directory_of_ehr_uid: directory,
  });
}
