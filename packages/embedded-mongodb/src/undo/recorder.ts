/** Finds out, before a write, what it is going to change, and puts that into the undo log. */
import { asText, fieldOf } from '../protocol/bson-slice.js';
import { rawValue, type BsonValue, type RawValue } from '../protocol/bson-write.js';
import type { Engine } from '../engine/engine.js';
import { byNamespace, splitNamespace, type Namespaces } from '../engine/namespaces.js';
import { CommandError } from '../protocol/replies.js';
import type { Statement } from '../transaction/statements.js';
import { tooLarge, type UndoLog, type UndoRecord } from './undo-log.js';

const IDS_PER_QUERY = 10_000;
const ID_BYTES_PER_QUERY = 4_000_000;
const CLOSED_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** Records for one transaction. */
export class Recorder {
  readonly #engine: Engine;
  readonly #namespaces: Namespaces;
  readonly #log: UndoLog;

  /** The caller owns the lock for as long as the recorder is used. */
  constructor(engine: Engine, namespaces: Namespaces, log: UndoLog) {
    this.#engine = engine;
    this.#namespaces = namespaces;
    this.#log = log;
  }

  /** Records statements whose `_id`s are all known, with one query per collection. @throws CommandError */
  async statements(statements: readonly Statement[]): Promise<void> {
    await this.#log.add(await this.#ofStatements(statements));
  }

  /**
   * The same for statements of one ordered `bulkWrite`; gives documents that it has to insert into the collection of the
   * undo records before them. @throws CommandError
   */
  async carried(statements: readonly Statement[]): Promise<readonly Buffer[]> {
    return this.#log.addCarried(await this.#ofStatements(statements));
  }

  /** Records that a collection is going to be made, if it does not exist. @throws CommandError 263 */
  async collection(namespace: string): Promise<void> {
    await this.#log.add(await this.#collectionRecords(namespace));
  }

  /** Records the indexes of a collection. @throws CommandError 263 */
  async indexes(namespace: string): Promise<void> {
    await this.collection(namespace);
    if (this.#log.isCreated(namespace)) return;
    const { database, collection } = splitNamespace(namespace);
    const listed = await this.#engine.documents({ listIndexes: collection, $db: database });
    await this.#log.add([{ kind: 'indexes', namespace, names: listed.map(indexName) }]);
  }

  /**
   * Records all documents that a query finds now and answers their ids.
   * @throws CommandError 257, 263; EngineError when the query is wrong
   */
  async hits(namespace: string, query: Readonly<Record<string, BsonValue | undefined>>): Promise<RawValue[]> {
    const records = await this.#collectionRecords(namespace);
    const ids: RawValue[] = [];
    await this.#images(namespace, query, (record) => {
      ids.push(record.id);
      if (!this.#log.isTouched(namespace, record.id)) records.push(record);
    });
    await this.#log.add(records);
    return ids;
  }

  /** Records documents that do not exist yet. */
  async absent(namespace: string, ids: readonly RawValue[]): Promise<void> {
    const fresh = ids.filter((id) => !this.#log.isTouched(namespace, id));
    await this.#log.add(fresh.map((id) => ({ kind: 'absent', namespace, id })));
  }

  async #ofStatements(statements: readonly Statement[]): Promise<UndoRecord[]> {
    const grouped = byNamespace(statements);
    const records = await Promise.all(
      [...grouped].map(([namespace, own]) => this.#ofNamespace(namespace, own)),
    );
    return records.flat();
  }

  async #ofNamespace(namespace: string, statements: readonly Statement[]): Promise<UndoRecord[]> {
    const wanted = new Map<string, { id: RawValue; mayCreate: boolean }>();
    for (const { id, kind, isUpsert } of statements) {
      if (id === null || this.#log.isTouched(namespace, id)) continue;
      const mayCreate = kind === 'insert' || isUpsert;
      const key = id.key();
      const known = wanted.get(key);
      if (known === undefined) wanted.set(key, { id, mayCreate });
      else known.mayCreate ||= mayCreate;
    }
    const ids = [...wanted.values()].map(({ id }) => id);
    const [records, images] = await Promise.all([
      this.#collectionRecords(namespace),
      this.#imagesOf(namespace, ids),
    ]);
    for (const image of images) wanted.delete(image.id.key());
    const created = [...wanted.values()].filter(({ mayCreate }) => mayCreate);
    return [
      ...records,
      ...images.filter((image) => !this.#log.isTouched(namespace, image.id)),
      ...created.map(({ id }) => ({ kind: 'absent', namespace, id }) as const),
    ];
  }

  async #collectionRecords(namespace: string): Promise<UndoRecord[]> {
    if (this.#log.isSeen(namespace)) return [];
    const { database } = splitNamespace(namespace);
    if (CLOSED_DATABASES.has(database)) throw refused(`the database ${database}`);
    const state = await this.#namespaces.stateOf(namespace);
    if (state === 'refused') throw refused('a capped or time-series collection');
    if (state === 'missing') return [{ kind: 'collection', namespace }];
    this.#log.see(namespace);
    return [];
  }

  async #imagesOf(namespace: string, ids: readonly RawValue[]): Promise<Image[]> {
    const images: Image[] = [];
    for (const part of inParts(ids)) {
      // By one id alone the engine finds a document without planning.
      const [only, ...others] = part;
      const query = others.length === 0 ? { filter: { _id: { $eq: only } }, limit: 1 } : allOf(part);
      await this.#images(namespace, query, (image) => images.push(image));
    }
    return images;
  }

  async #images(
    namespace: string,
    query: Readonly<Record<string, BsonValue | undefined>>,
    visit: (image: Image) => void,
  ): Promise<void> {
    const { database, collection } = splitNamespace(namespace);
    let bytes = 0;
    const command = { find: collection, ...query, batchSize: IDS_PER_QUERY, $db: database };
    await this.#engine.eachBatch(command, (documents) => {
      for (const document of documents) {
        bytes += document.length;
        const id = fieldOf(document, '_id');
        if (id !== undefined) visit({ kind: 'image', namespace, id: rawValue(id), document });
      }
      if (bytes > this.#log.freeBytes) throw tooLarge();
    });
  }
}

const allOf = (ids: readonly RawValue[]): Record<string, BsonValue> => ({ filter: { _id: { $in: ids } } });

type Image = Extract<UndoRecord, { kind: 'image' }>;

function refused(what: string): CommandError {
  return new CommandError(263, `cannot write to ${what} in a transaction`);
}

function indexName(listed: Buffer): string {
  return asText(fieldOf(listed, 'name')) ?? '';
}

function* inParts(ids: readonly RawValue[]): Generator<RawValue[]> {
  let part: RawValue[] = [];
  let bytes = 0;
  for (const id of ids) {
    part.push(id);
    bytes += id.bytes.length;
    if (part.length === IDS_PER_QUERY || bytes > ID_BYTES_PER_QUERY) {
      yield part;
      part = [];
      bytes = 0;
    }
  }
  if (part.length > 0) yield part;
}
