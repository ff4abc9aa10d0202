import { inSteps } from '../access/in-steps.js';
import { archivedMovesOf } from './archive.js';

/** What goes back when a merge is taken back: all that it moved and that its target still has, but for some, and some more. */
export interface MovedBack {
  readonly mergeId: string;
  /** Object ids of moved compositions, and uids of moved CONTRIBUTIONs, that do not go back. */
  readonly except: ReadonlySet<string>;
  /** Object ids of joined compositions. */
  readonly joined: readonly string[];
  /** CONTRIBUTIONs made since. */
  readonly since: readonly string[];
}

/** Uids of the CONTRIBUTIONs that go back, as many at a time as one command can name. */
export async function* contributionsBack({
  mergeId,
  except,
  since,
}: MovedBack): AsyncGenerator<readonly string[]> {
  for await (const part of archivedMovesOf(mergeId, 'contribution'))
    yield* inSteps(part.filter((uid) => !except.has(uid)));
  yield* inSteps(since);
}

/** Object ids of the compositions that go back, as many at a time as one command can name. */
export async function* compositionsBack({
  mergeId,
  except,
  joined,
}: MovedBack): AsyncGenerator<readonly string[]> {
  for await (const part of archivedMovesOf(mergeId, 'composition'))
    yield* inSteps(part.filter((id) => !except.has(id)));
  yield* inSteps(joined);
}
