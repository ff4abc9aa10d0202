import { noteStates } from '../models/cross-collection/state-note.js';
import type { Session } from '../models/access/write.js';
import { followObjects } from '../models/ehr-mark.js';
import { sourcesEndingIn } from '../models/ehr.js';

/**
 * Marks of objects that have left an EHR go with them, inside the caller's transaction, in which they have moved. Those of an EHR as a
 * whole stay where they were set: whatever it was merged into has them as long as it is. docs/access.md#through-merges
 */
export async function moveMarks(session: Session, ehrId: string): Promise<void> {
  const ids = await followObjects([ehrId, ...(await sourcesEndingIn(ehrId))]);
  if (ids.length > 0) await noteStates(session, { collection: 'ehr_marks', ids, reason: 'move' });
}
