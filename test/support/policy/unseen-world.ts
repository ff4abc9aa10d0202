import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { FOLDER, STATUS } from '../api/world.js';
import type { Random } from '../random.js';
import { aComposition, versionedObjectUidOf, versionUidOf, V1 } from '../resources.js';

/** Of the tests' servers. */
const SYSTEM = 'local.cdr';

/** Whatever stands in requests and answers for something that may be there or not, by name. */
export type Names = Readonly<Record<string, string>>;

/** An EHR that is seen, and what is in it. */
export interface SeenEhr {
  readonly ehr: string;
  readonly composition: string;
}

const HIDDEN = 'committer.name="hidden"';

/** Names of what is not there: ids like those of what will be. */
export function absentNames(subject: string): Names {
  const uid = (): string => `${randomUUID()}::${SYSTEM}::1`;
  return withContainers({
    subject,
    ehr: randomUUID(),
    contribution_of_ehr: randomUUID(),
    contribution: randomUUID(),
    ehr_status_uid: uid(),
    composition_of_ehr_uid: uid(),
    directory_of_ehr_uid: uid(),
    composition_uid: uid(),
    deleted_uid: uid(),
    directory_uid: uid(),
  });
}

/** The same with the ids of the containers beside those of versions. */
export function withContainers(names: Names): Names {
  const uids = Object.entries(names).filter(([name]) => name.endsWith('_uid'));
  const containers = uids.map(([name, uid]) => [name.replace('_uid', '_id'), versionedObjectUidOf(uid)]);
  return { ...names, ...(Object.fromEntries(containers) as Names) };
}

/** Makes, as somebody who may do everything, an EHR that nobody hides, with a COMPOSITION, and maybe a directory that was deleted. */
export async function seenEhr(
  app: RequestListener,
  subject: string,
  hadDirectory: boolean,
): Promise<SeenEhr> {
  const made = await request(app).post(`${V1}/ehr`).send(statusOf(subject)).expect(201);
  const ehr = versionUidOf(made);
  const composed = await request(app).post(`${V1}/ehr/${ehr}/composition`).send(aComposition()).expect(201);
  if (hadDirectory) {
    const folder = versionUidOf(
      await request(app).post(`${V1}/ehr/${ehr}/directory`).send(FOLDER).expect(201),
    );
    await request(app).delete(`${V1}/ehr/${ehr}/directory`).set('If-Match', folder).expect(204);
  }
  return { ehr, composition: versionUidOf(composed) };
}

/** An EHR_STATUS with an identifier that another one may have too. */
export function statusOf(identifier: string, subject?: string): object {
  const details = {
    _type: 'ITEM_TREE',
    archetype_node_id: 'at0001',
    name: { _type: 'DV_TEXT', value: 'details' },
    items: [
      {
        _type: 'ELEMENT',
        archetype_node_id: 'at0002',
        name: { _type: 'DV_TEXT', value: 'number' },
        value: {
          _type: 'DV_IDENTIFIER',
          id: identifier,
          type: 'MR',
          issuer: 'hospital',
          assigner: 'hospital',
        },
      },
    ],
  };
  const reference = {
    _type: 'PARTY_REF',
    id: { _type: 'GENERIC_ID', value: subject, scheme: 'ids' },
    namespace: 'hospital',
    type: 'PERSON',
  };
  const self = { _type: 'PARTY_SELF', ...(subject !== undefined && { external_ref: reference }) };
  return { ...STATUS, subject: self, other_details: details };
}

/**
 * Makes what is hidden: an EHR with all kinds of objects, and objects in one that is seen, all committed by `hidden`. Gives their names.
 * `identifier`: which a seen EHR has too.
 */
export async function hiddenThings(
  app: RequestListener,
  {
    seen,
    subject,
    identifier,
    random,
  }: {
    readonly seen: SeenEhr;
    readonly subject: string;
    readonly identifier: string;
    readonly random: Random;
  },
): Promise<Names> {
  const send = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    request(app)
      .post(`${V1}/ehr${path}`)
      .set({ 'openEHR-AUDIT_DETAILS': HIDDEN, ...headers })
      .send(body)
      .expect(201);
  const ehr = versionUidOf(await send('', statusOf(identifier, subject)));
  const status = versionUidOf(await request(app).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
  const composer = { _type: 'PARTY_IDENTIFIED', name: 'hidden' };
  const composed = async (owner: string): Promise<string> =>
    versionUidOf(await send(`/${owner}/composition`, { ...aComposition(), composer }));
  const [inEhr, inSeen, deleted] = [await composed(ehr), await composed(seen.ehr), await composed(seen.ehr)];
  await request(app)
    .delete(`${V1}/ehr/${seen.ehr}/composition/${deleted}`)
    .set('openEHR-AUDIT_DETAILS', HIDDEN)
    .expect(204);
  for (let more = random.whole(4, 12); more > 0; more--) await composed(seen.ehr);
  const folders = [
    versionUidOf(await send(`/${ehr}/directory`, FOLDER)),
    versionUidOf(await send(`/${seen.ehr}/directory`, FOLDER)),
  ];
  for (const [owner, uid] of [
    [ehr, inEhr],
    [seen.ehr, inSeen],
  ] as const)
    await request(app)
      .put(`${V1}/ehr/${owner}/composition/${versionedObjectUidOf(uid)}/tags`)
      .send([{ key: 'status', value: 'hidden' }])
      .expect(200);
  await request(app)
    .put(`${V1}/ehr/${ehr}/ehr_status/${versionedObjectUidOf(status)}/tags`)
    .send([{ key: 'access.hidden', value: 'yes' }])
    .expect(200);
  const contribution = async (owner: string, uid: string): Promise<string> => {
    const version = await request(app)
      .get(`${V1}/ehr/${owner}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`)
      .expect(200);
    return (version.body as { contribution: { id: { value: string } } }).contribution.id.value;
  };
  return withContainers({
    subject,
    ehr,
    contribution_of_ehr: await contribution(ehr, inEhr),
    contribution: await contribution(seen.ehr, inSeen),
    ehr_status_uid: status,
    composition_of_ehr_uid: inEhr,
    directory_of_ehr_uid: folders[0] ?? '',
    composition_uid: inSeen,
    deleted_uid: deleted,
    directory_uid: folders[1] ?? '',
  });
}
