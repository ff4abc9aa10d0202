import type { ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import type { MessageKey } from '../messages/en.js';

/** The group `audit change type` of the openEHR terminology. */
const CHANGE_TYPES: ReadonlyMap<string, MessageKey> = new Map([
  ['creation', 'change.creation'],
  ['amendment', 'change.amendment'],
  ['modification', 'change.modification'],
  ['synthesis', 'change.synthesis'],
  ['unknown', 'change.unknown'],
  ['deleted', 'change.deleted'],
  ['attestation', 'change.attestation'],
  ['restoration', 'change.restoration'],
  ['format conversion', 'change.conversion'],
]);

/** What a commit did, in the language of the reader; of other terminologies the rubric as it was committed. */
export function ChangeType({ rubric }: { readonly rubric: string }): ReactNode {
  const { t } = useMessages();
  const key = CHANGE_TYPES.get(rubric);
  return key === undefined ? rubric : t(key);
}
