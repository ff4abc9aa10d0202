/** Up to which moment everything is there that any server of this database will ever commit: docs/spec/aql.md#as-of. */
import { COLLECTIONS } from './layout.js';
import { documents } from './documents.js';

/** What a server has promised. */
interface Promised {
  readonly id: string;
  /** Where its process runs, so that others there can tell that it has ended; null: they cannot. */
  readonly place: string | null;
  readonly pid: number;
  /** None of its commits that cannot be read yet has, or will get, a time up to this. */
  readonly floor: Date;
  /** When it was here last, by the database's clock. */
  readonly seen_at: Date;
}

/** The one document in which servers that commit tell each other how far they are. */
export interface CertainMoment {
  readonly _id: 'certain';
  /** The greatest moment that was ever below all floors. */
  readonly certain: Date;
  /** The greatest moment that somebody waits for. */
  readonly wanted: Date;
  readonly servers: readonly Promised[];
}

/**
 * A server that was not here for so long has no transaction under way any more: it begins none later than a quarter of this
 * after it was here, and MongoDB ends one after 60 s (`transactionLifetimeLimitSeconds`).
 */
export const GONE_MS = 90_000;

/** A moment that lies further ahead of the database's clock is none: the clock of who promised it was wrong. */
export const AHEAD_MS = 5_000;

const ID = 'certain';
const moments = () => documents<CertainMoment>(COLLECTIONS.settings);

/**
 * Takes a server's promise, leaves out those that are gone, and gives how far all are, in one command. Whoever comes anew may give
 * no commit a time up to the moment that it is told.
 */
export async function promiseFloor(
  mine: Omit<Promised, 'seen_at'>,
  wanted: Date,
  gone: readonly string[],
): Promise<CertainMoment> {
  const isOther = {
    $and: [
      { $not: [{ $in: ['$$this.id', [mine.id, ...gone]] }] },
      { $gt: ['$$this.seen_at', { $subtract: ['$$NOW', GONE_MS] }] },
    ],
  };
  const latest = { $add: ['$$NOW', AHEAD_MS] };
  const others = { $filter: { input: { $ifNull: ['$servers', []] }, cond: isOther } };
  const promised = {
    ...mine,
    place: { $literal: mine.place },
    floor: { $min: [mine.floor, latest] },
    seen_at: '$$NOW',
  };
  const before = { $min: [{ $ifNull: ['$certain', new Date(0)] }, latest] };
  const stored = await moments().findOneAndUpdate(
    { _id: ID },
    [
      {
        $set: {
          servers: { $concatArrays: [others, [promised]] },
          wanted: { $min: [{ $max: ['$wanted', wanted] }, latest] },
        },
      },
      { $set: { certain: { $max: [before, { $min: '$servers.floor' }] } } },
    ],
    { upsert: true, returnDocument: 'after' },
  );
  if (stored === null) throw new Error('the certain moment cannot be read back');
  return stored;
}

/** How far all are; null: no server has been here. */
export function certainMoment(): Promise<CertainMoment | null> {
  return moments().findOne({ _id: ID });
}

/** A server that commits no more. */
export async function withdrawFloor(id: string): Promise<void> {
  await moments().updateOne({ _id: ID }, { $pull: { servers: { id } } });
}
