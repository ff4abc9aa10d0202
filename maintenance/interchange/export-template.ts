import { collapsedToken } from '../../openehr/base/text.js';
import { exportedRevisions } from '../../models/cross-collection/interchange.js';
import type { TemplateDoc } from '../../models/definition/template.js';
import { revisionDigest } from '../../models/definition/template-revision.js';
import type { Session } from '../../models/access/write.js';
import { templateLine } from './line-text.js';

/** What `Section.known` calls a template. */
export function templateKey(templateId: string): string {
  return `templates ${collapsedToken(templateId)}`;
}

/** The same of a revision of it. */
export function revisionKey(templateId: string, digest: string): string {
  return `revisions ${digest} ${collapsedToken(templateId)}`;
}

/** The lines of a template with all its revisions, oldest first, that are to be written now. `isFirst`: whether one is, by its key. */
export async function* templateLines(
  session: Session,
  newest: TemplateDoc,
  isFirst: (key: string) => boolean,
): AsyncGenerator<string> {
  const digest = revisionDigest(newest.opt);
  let after: string | null = null;
  isFirst(templateKey(newest._id));
  for (const earlier of await exportedRevisions(session, newest._id)) {
    // On the embedded engine the next one may have been uploaded between the two reads.
    if (earlier.digest === digest) break;
    const as = { ...earlier, _id: newest._id, revision_name: earlier.name };
    if (isFirst(revisionKey(newest._id, earlier.digest))) yield templateLine(as, after);
    after = earlier.digest;
  }
  if (isFirst(revisionKey(newest._id, digest))) yield templateLine(newest, after);
}
