import type { Viewer } from '../../change/access/viewer.js';
import { CdrError } from '../../openehr/base/errors.js';
import { markView } from '../../change/mark/mark-view.js';
import type { AuthenticatedUser } from '../../routes/http/request/request-state.js';

/** What a restriction of processing is told by. */
export interface Refused {
  readonly viewer: Viewer;
  readonly isRead: boolean;
  readonly user: AuthenticatedUser | null;
}

/**
 * The refusal of what a restriction of processing alone stands against: of a write to everybody, of a read to who may know it. Null:
 * something else was refused, or it is answered as what is not there. docs/access.md#restriction-of-processing
 */
export function restrictedRefusal(error: unknown, { viewer, isRead, user }: Refused): CdrError | null {
  const { restrictions } = viewer;
  if (!(error instanceof CdrError) || restrictions.length === 0) return null;
  if (error.code !== 'not-found' && error.code !== 'forbidden') return null;
  const mayKnow = mayKnowMarks(user);
  if (isRead && !mayKnow) return null;
  const marks = mayKnow ? { marks: restrictions.map((doc) => markView(doc)) } : {};
  return new CdrError(isRead ? 'restricted-read' : 'restricted', 'its processing is restricted', {
    ...marks,
    cause: error,
  });
}

/** A refusal by a restriction of processing as it is told to this user: without its marks to whom they are not told. */
export function restrictedAsTold(error: unknown, user: AuthenticatedUser | null): unknown {
  if (!(error instanceof CdrError) || error.code !== 'restricted' || mayKnowMarks(user)) return error;
  return new CdrError('restricted', error.message, { cause: error });
}

function mayKnowMarks(user: AuthenticatedUser | null): boolean {
  return user?.permissions.has('admin') === true || user?.permissions.has('audit') === true;
}
