import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../openehr/base/json.js';
import { objectAt, textAt } from '../../../openehr/rm/access.js';

/** How a peer behaves. */
export interface PeerManners {
  /** Requests after which one fails: not at all, with 500, with 503, and in the middle of its answer, in turn; 0: all are answered. */
  readonly failsEvery?: number;
  /** User and password of Basic authentication. */
  readonly basic?: string;
  /** Object ids of COMPOSITIONs whose history it does not show. */
  readonly hidden?: readonly string[];
  /** Whether it has operations for item tags. */
  readonly hasTags?: boolean;
  /** Whether deletions are in histories only. */
  readonly hidesDeletions?: boolean;
  /** Whether an EHR lists its CONTRIBUTIONs, which EHRbase does not do. */
  readonly lists?: boolean;
  /** Rows that it gives at most; it refuses a LIMIT that is higher, or gives no more. */
  readonly most?: { readonly rows: number; readonly refuses: boolean };
  /** Whether it shows of a directory only what it is now. */
  readonly hidesDirectories?: boolean;
  /** Called with how often it was asked, and for what, before it answers. */
  readonly onAsked?: (count: number, path: string) => void;
  /** Whether it does not let in who asks for this. */
  readonly refuses?: (path: string) => boolean;
  /** Rows that it answers to queries. */
  readonly rows?: Readonly<Record<string, readonly (readonly unknown[])[]>>;
  /** Waits before it answers what is asked for. */
  readonly waits?: (path: string) => Promise<void>;
  /** Bearer token. */
  readonly token?: string;
}

/** What a server of EHRbase's kind answers, made of the lines of an export of all versions. */
class Store {
  readonly templates: JsonObject[] = [];
  readonly queries: JsonObject[] = [];
  readonly ehrs = new Map<string, JsonObject>();
  readonly tags: JsonObject[] = [];
  readonly contributions = new Map<string, { readonly ehrId: string; readonly contribution: JsonObject }>();
  /** By EHR and class. */
  readonly #versions = new Map<string, JsonObject[]>();

  constructor(lines: readonly string[]) {
    for (const line of lines) this.#add(JSON.parse(line) as JsonObject);
  }

  #add(line: JsonObject): void {
    const [ehrId = '', kind = ''] = [textAt(line, 'ehr_id'), textAt(line, 'kind')];
    const own = objectAt(line, kind) ?? {};
    switch (kind) {
      case 'template':
        this.templates.push(line);
        break;
      case 'stored_query':
        this.queries.push(line);
        break;
      case 'item_tag':
        this.tags.push(own);
        break;
      case 'ehr':
        this.ehrs.set(textAt(own, 'ehr_id', 'value') ?? '', own);
        break;
      case 'contribution':
        this.contributions.set(uidOf(own), { ehrId, contribution: own });
        break;
      case 'version':
        this.#addVersion(`${ehrId} ${textAt(line, 'type') ?? ''}`, own);
        break;
    }
  }

  #addVersion(key: string, version: JsonObject): void {
    const known = this.#versions.get(key);
    if (known === undefined) this.#versions.set(key, [version]);
    else known.push(version);
  }

  of(ehrId: string, type: string, objectId?: string): JsonObject[] {
    const all = this.#versions.get(`${ehrId} ${type}`) ?? [];
    return all.filter((one) => objectId === undefined || uidOf(originalOf(one)).startsWith(`${objectId}::`));
  }

  /** References to the CONTRIBUTIONs of an EHR. */
  references(ehrId: string): JsonObject[] {
    return [...this.contributions]
      .filter(([, { ehrId: owner }]) => owner === ehrId)
      .map(([uid]) => ({ _type: 'OBJECT_REF', id: { _type: 'HIER_OBJECT_ID', value: uid } }));
  }

  /** The latest versions of COMPOSITIONs that are not deleted. */
  live(ehrId: string): string[] {
    const originals = this.of(ehrId, 'COMPOSITION').map(originalOf);
    const latest = new Map(originals.map((one) => [uidOf(one).split('::')[0], one]));
    return [...latest.values()].filter(({ data = null }) => data !== null).map(uidOf);
  }
}

const uidOf = (version: JsonObject): string => textAt(version, 'uid', 'value') ?? '';

/** A peer, and what it was asked. Whoever begins it closes it. */
export interface OldPeer {
  /** Base of its API. */
  readonly url: string;
  readonly asked: string[];
  readonly server: Server;
  /** The most requests that were under way at once. */
  most(): number;
  /** What else was there when somebody asked is gone: it has what these lines hold. */
  holds(lines: readonly string[]): void;
}

/** Serves lines of an export as EHRbase would: pages by LIMIT and OFFSET, a constant `Last-Modified`, texts for 404. */
export async function oldPeer(lines: readonly string[], manners: PeerManners = {}): Promise<OldPeer> {
  let store = new Store(lines);
  const asked: string[] = [];
  const { failsEvery = 0 } = manners;
  let [open, most] = [0, 0];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`${request.method ?? ''} ${path}`);
    most = Math.max(most, ++open);
    response.once('close', () => (open -= 1));
    manners.onAsked?.(asked.length, path);
    if (manners.waits === undefined) answered(request, response);
    else void manners.waits(path).then(() => answered(request, response));
  });
  const answered = (request: IncomingMessage, response: ServerResponse): void => {
    const isFailing = failsEvery > 0 && asked.length % failsEvery === 0;
    const answer = answerTo(store, manners, request);
    if (isFailing) fail(request, response, answer, asked.length / failsEvery);
    else send(response, answer);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const holds = (others: readonly string[]): void => {
    store = new Store(others);
  };
  return { url: `http://127.0.0.1:${port}/ehrbase/rest/openehr/v1`, asked, server, holds, most: () => most };
}

/** Ways to fail, one after the other. */
function fail(request: IncomingMessage, response: ServerResponse, [, body]: Answer, count: number): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  switch (count % 4) {
    case 0:
      send(response, [500, { error: 'Internal Server Error' }]);
      break;
    case 1:
      request.socket.destroy();
      break;
    case 2:
      send(response, [503, { error: 'Service Unavailable' }]);
      break;
    default:
      response.writeHead(200, { 'Content-Length': `${Buffer.byteLength(text)}` });
      response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
  }
}

/** A status and a body. */
type Answer = readonly [status: number, body: object | string];

function answerTo(
  store: Store,
  manners: PeerManners,
  { headers, method, url = '' }: IncomingMessage,
): Answer {
  if (headers.authorization !== credentialsOf(manners)) return [401, { error: 'Unauthorized' }];
  if (manners.refuses?.(url) === true) return [403, { error: 'Forbidden' }];
  // A create, as EHRbase answers it to who does not want to see it.
  if (method !== 'GET') return [204, ''];
  return shown(store, manners, url);
}

/** What is read at an address. */
function shown(store: Store, manners: PeerManners, url: string): Answer {
  if (manners.hasTags === true && url.startsWith(TAGS)) return [200, tagsOf(store, url)];
  const { pathname, searchParams } = new URL(url, 'http://peer');
  const [, ...path] = pathname.replace('/ehrbase/rest/openehr/v1', '').split('/').map(decodeURIComponent);
  if (path[0] === 'query') return rowsAnswer(store, manners, searchParams.get('q') ?? '');
  if (path[2] === 'directory')
    return directoryAnswer(store, manners, path, searchParams.get('version_at_time'));
  return path[0] === 'definition' ? definitionOf(store, path) : ehrAnswer(store, manners, path);
}

function credentialsOf({ basic, token }: PeerManners): string | undefined {
  if (token !== undefined) return `Bearer ${token}`;
  return basic === undefined ? undefined : `Basic ${Buffer.from(basic).toString('base64')}`;
}

/** Below `/ehr`. */
function ehrAnswer(store: Store, manners: PeerManners, path: readonly string[]): Answer {
  const { hidden = [], hidesDeletions = false, lists = false } = manners;
  const found = resourceOf(store, path, hidden);
  const isHidden = hidesDeletions && path.includes('version') && found?.data === undefined;
  if (found === undefined || isHidden) return [404, NOT_FOUND];
  const isListed = lists && path.length === 2;
  return [200, isListed ? { ...found, contributions: store.references(path[1] ?? '') } : found];
}

/** The directory as it is, as it was at a time, or one version of it. */
function directoryAnswer(
  store: Store,
  { hidesDirectories = false }: PeerManners,
  [, ehrId = '', , uid]: readonly string[],
  time: string | null,
): Answer {
  const versions = store
    .of(ehrId, 'FOLDER')
    .filter((one) => Date.parse(timeOf(one)) <= Date.parse(time ?? FAR));
  const latest = versions.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1)).at(-1);
  const wanted = uid === undefined ? latest : versions.find((one) => uidOf(one) === uid);
  const folder = objectAt(wanted, 'data');
  const isHidden = hidesDirectories && (uid !== undefined || time !== null);
  return folder === undefined || isHidden ? [404, NOT_FOUND] : [200, folder];
}

const FAR = '9999-01-01T00:00:00Z';
const timeOf = (version: JsonObject): string =>
  textAt(version, 'commit_audit', 'time_committed', 'value') ?? '';

const NOT_FOUND = { error: 'Not Found', message: 'No resource found' };

const listed = ({ template_id, created_timestamp }: JsonObject): JsonObject => ({
  ...{ template_id: template_id ?? null, created_timestamp: created_timestamp ?? null },
  archetype_id: 'openEHR-EHR-COMPOSITION.any.v1',
});

const TAGS = '/ehrbase/rest/experimental/tags/';

/** Tags of a version, or of its container, whose uid they name. */
function tagsOf(store: Store, url: string): JsonObject[] {
  const [, , type = '', uid = ''] = url.slice(TAGS.length).split('/').map(decodeURIComponent);
  const [container] = uid.split('::');
  return store.tags
    .filter((tag) => tag.target === container && tag.target_type === type.toUpperCase())
    .map((tag) => Object.fromEntries(Object.entries(tag).filter(([key]) => key !== 'target_version')));
}

/** Below `/definition`. */
function definitionOf(store: Store, [, kind, name, templateId]: readonly string[]): Answer {
  if (kind === 'query') return queryAnswer(store, name, templateId);
  if (templateId === undefined) return [200, store.templates.map(listed)];
  const opt = store.templates.find(({ template_id: id }) => id === templateId)?.opt;
  return typeof opt === 'string' ? [200, opt] : [404, NOT_FOUND];
}

function queryAnswer(store: Store, name: string | undefined, version: string | undefined): Answer {
  if (name === undefined) return [200, store.queries];
  const isMeant = (query: JsonObject): boolean =>
    query.name === name && (version === undefined || query.version === version);
  const found = store.queries.find(isMeant);
  return found === undefined ? [404, NOT_FOUND] : [200, found];
}

/** Itself, but what an IMPORTED_VERSION has as item. */
function originalOf(version: JsonObject): JsonObject {
  return objectAt(version, 'item') ?? version;
}

/** Below `/ehr/{ehr_id}`. */
function resourceOf(
  store: Store,
  path: readonly string[],
  hidden: readonly string[],
): JsonObject | undefined {
  const [, ehrId = '', kind, ...rest] = path;
  const ehr = store.ehrs.get(ehrId);
  if (ehr === undefined || kind === undefined) return ehr;
  if (kind === 'contribution') return store.contributions.get(rest[0] ?? '')?.contribution;
  if (kind === 'versioned_ehr_status') return versionedOf(store.of(ehrId, 'EHR_STATUS'), rest);
  const [objectId = '', ...below] = rest;
  return hidden.includes(objectId) ? undefined : versionedOf(store.of(ehrId, 'COMPOSITION', objectId), below);
}

/** One version, or the history of all. */
function versionedOf(
  versions: readonly JsonObject[],
  [what, uid]: readonly string[],
): JsonObject | undefined {
  if (what === 'version') return versions.find((version) => uidOf(originalOf(version)) === uid);
  if (versions.length === 0) return undefined;
  const items = versions.map(originalOf).map(({ uid: id = null, commit_audit: audit = null }) => ({
    version_id: id,
    audits: [audit],
  }));
  return { _type: 'REVISION_HISTORY', items };
}

/** Rows as EHRbase answers them, with when it did. */
function rowsAnswer(store: Store, { most, rows }: PeerManners, q: string): Answer {
  if (rows?.[q] !== undefined) return [200, { q, rows: rows[q] }];
  const [, limit = '0'] = / LIMIT (\d+) /.exec(q) ?? [];
  const isTooMuch = most !== undefined && Number(limit) > most.rows;
  if (isTooMuch && most.refuses)
    return [422, { error: 'Unprocessable Entity', message: 'LIMIT is too high' }];
  const asked = isTooMuch ? q.replace(` LIMIT ${limit} `, ` LIMIT ${most.rows} `) : q;
  return [200, { ...rowsOf(store, asked), meta: { _type: 'RESULTSET', _created: new Date().toISOString() } }];
}

/** The columns of the queries that a migration asks. */
function rowsOf(store: Store, q: string): JsonObject {
  if (q.includes('COUNT(')) {
    const composition = [...store.ehrs.keys()].flatMap((id) => store.live(id)).length;
    return { q, rows: [[q.includes('COMPOSITION') ? composition : store.ehrs.size]] };
  }
  const [, limit = '0', offset = '0'] = / LIMIT (\d+) OFFSET (\d+)$/.exec(q) ?? [];
  const [, ehrId] = /\[ehr_id\/value='([^']+)'\]/.exec(q) ?? [];
  const [, since = ''] = />= '([^']+)'/.exec(q) ?? [];
  const ids = [...store.ehrs.keys()].filter((id) => since === '' || latestOf(store, id) >= since);
  const all = ehrId === undefined ? ids : store.live(ehrId);
  const rows = all.sort().slice(Number(offset), Number(offset) + Number(limit));
  return { q, columns: [{ name: '#0' }], rows: rows.map((cell) => [cell]) };
}

/** When a COMPOSITION or EHR_STATUS came that is not deleted: queries find nothing else. */
function latestOf(store: Store, ehrId: string): string {
  const found = ['EHR_STATUS', 'COMPOSITION'].flatMap((type) => store.of(ehrId, type));
  return (
    found
      .filter(({ data }) => data !== undefined)
      .map(timeOf)
      .sort()
      .at(-1) ?? ''
  );
}

function send(response: ServerResponse, [status, body]: Answer): void {
  const isText = typeof body === 'string';
  response.writeHead(status, {
    'Content-Type': isText ? 'application/xml' : 'application/json',
    'Last-Modified': 'Thu, 01 Jan 1970 00:00:00 GMT',
  });
  response.end(isText ? body : JSON.stringify(body));
}
