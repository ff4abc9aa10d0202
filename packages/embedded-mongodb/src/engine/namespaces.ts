/** Which collections exist, memoized for as long as nothing can have removed one. */
import { asDocument, asText, fieldOf, isSet } from '../protocol/bson-slice.js';
import type { Engine } from './engine.js';

/** `refused`: capped and time-series collections take no part in transactions. */
export type NamespaceState = 'exists' | 'missing' | 'refused';

/** Commands after which every collection known to exist still does. */
const HARMLESS: ReadonlySet<string> = new Set(
  [
    'find insert update delete findAndModify findandmodify aggregate getMore killCursors count distinct',
    'bulkWrite create createIndexes dropIndexes listCollections listIndexes listDatabases explain',
    'buildInfo getParameter setParameter serverStatus currentOp killOp dbStats collStats validate',
  ].flatMap((line) => line.split(' ')),
);

/** Looks collections up. */
export class Namespaces {
  readonly #engine: Engine;
  readonly #known = new Map<string, NamespaceState>();

  /** `engine`: where the collections are. */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** To be called with every command outside transactions. */
  observe(commandName: string): void {
    if (this.#known.size > 0 && !HARMLESS.has(commandName)) this.#known.clear();
  }

  /** Forgets everything, after collections have been dropped. */
  forget(): void {
    this.#known.clear();
  }

  /** State of `database.collection`, as of now; the caller owns the lock. */
  async stateOf(namespace: string): Promise<NamespaceState> {
    const known = this.#known.get(namespace);
    if (known !== undefined) return known;
    const { database, collection } = splitNamespace(namespace);
    const [found] = await this.#engine.documents({
      listCollections: 1,
      filter: { name: collection },
      $db: database,
    });
    if (found === undefined) return 'missing';
    const state = isRefused(found) ? 'refused' : 'exists';
    this.#known.set(namespace, state);
    return state;
  }
}

function isRefused(listed: Buffer): boolean {
  const options = asDocument(fieldOf(listed, 'options'));
  const isCapped = options !== undefined && isSet(fieldOf(options, 'capped'));
  return isCapped || asText(fieldOf(listed, 'type')) === 'timeseries';
}

/** The two parts of `database.collection`. */
export function splitNamespace(namespace: string): {
  readonly database: string;
  readonly collection: string;
} {
  const dot = namespace.indexOf('.');
  return { database: namespace.slice(0, dot), collection: namespace.slice(dot + 1) };
}

/** Items by the namespace that they concern, in their order. */
export function byNamespace<T extends { readonly namespace: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.namespace);
    if (group === undefined) groups.set(item.namespace, [item]);
    else group.push(item);
  }
  return groups;
}
