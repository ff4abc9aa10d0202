import { openMarks } from '../../models/ehr-mark.js';
import { isPolicyStored } from '../../models/policy.js';
import { MARK_KINDS } from '../../policy/marks.js';
import type { Settings } from '../../config/settings.js';

/** Whether policies of access or marks are kept that hold nowhere, since this server does not enforce them. docs/access.md */
export async function isUnenforced({ accessMode }: Pick<Settings, 'accessMode'>): Promise<boolean> {
  if (accessMode === 'enforce') return false;
  return (await isPolicyStored()) || (await openMarks(MARK_KINDS, 1)).length > 0;
}
