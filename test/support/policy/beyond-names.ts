import mongoose from 'mongoose';
import { MOST_SCOPES } from '../../../models/cross-collection/marked-ehrs.js';
import { MOST_TAGGED } from '../../../models/cross-collection/tagged-ehrs.js';
import type { MarkKind } from '../../../policy/marks.js';

/** A tag of more EHRs than queries name, none of which is there: from then on each document is asked for it. */
export async function tagBeyondNames(key: string, value: string | null): Promise<void> {
  const ofEhr = { target_type: 'EHR_STATUS', target_version: null, target_path: null };
  await mongoose.connection.collection<{ _id: string }>('item_tags').insertMany(
    Array.from({ length: MOST_TAGGED + 1 }, (_, index) => {
      const owner = `beyond ${index}`;
      return { _id: `${owner} ${key}`, owner_id: owner, target: owner, key, value, ...ofEhr };
    }),
  );
}

/** Marks of more different parts of EHRs than queries name, of EHRs that are not there. */
export async function markBeyondNames(kinds: readonly MarkKind[]): Promise<void> {
  const said = { ground: 'beyond', placed: { time: new Date(), by: 'beyond' }, lifted: [], open: true };
  await mongoose.connection.collection<{ _id: string }>('ehr_marks').insertMany(
    kinds.flatMap((kind) =>
      Array.from({ length: MOST_SCOPES + 1 }, (_, index) => {
        const ehr = `beyond ${index}`;
        return { _id: `${ehr} ${kind}`, ehr_id: ehr, kind, template_id: `none ${index}`, ...said };
      }),
    ),
  );
}
