import mongoose from 'mongoose';
import { MOST_SCOPES } from '../models/cross-collection/marked-ehrs.js';
import { MOST_TAGGED } from '../models/cross-collection/tagged-ehrs.js';
import { HIDDEN_TAG } from './access-policies.js';

/** EHRs at once in one command. */
const AT_ONCE = 5_000;

/**
 * More tags and different marks than queries name, of EHRs that are not there: then both are joined to each document. docs/access.md#many-marks
 */
export async function fillBeyondNames(): Promise<void> {
  const ofEhr = { target_type: 'EHR_STATUS', target_version: null, target_path: null, key: HIDDEN_TAG };
  for (let first = 0; first <= MOST_TAGGED; first += AT_ONCE)
    await insert(
      'item_tags',
      Array.from({ length: AT_ONCE }, (_, index) => {
        const owner = `fill ${first + index}`;
        return { _id: owner, owner_id: owner, target: owner, value: null, ...ofEhr };
      }),
    );
  const said = { ground: 'fill', placed: { time: new Date(), by: 'fill' }, lifted: [], open: true };
  await insert(
    'ehr_marks',
    Array.from({ length: MOST_SCOPES + 1 }, (_, index) => ({
      ...{
        _id: `fill ${index}`,
        ehr_id: `fill ${index}`,
        kind: 'patient_restriction',
        template_id: `none ${index}`,
      },
      ...said,
    })),
  );
  await mongoose.connection
    .collection<{ _id: string }>('settings')
    .updateOne({ _id: 'marks' }, { $inc: { seq: 1 } }, { upsert: true });
}

async function insert(name: string, docs: readonly { readonly _id: string }[]): Promise<void> {
  await mongoose.connection.collection<{ _id: string }>(name).insertMany([...docs]);
}
