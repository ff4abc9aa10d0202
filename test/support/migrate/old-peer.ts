import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../openehr/base/json.js';
import { objectAt, textAt } from '../../../openehr/rm/access.js';

/** How a peer behaves. */
export interface PeerManners {
  /** Requests after which one is answered with 500, and another not at all; 0: all are answered. */
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
}

/** What a server of EHRbase's kind answers, made of the lines of an export of all versions. */
class Store {
  readonly templates: JsonObject[] = [];
  readonly queries: JsonObject[] = [];
  readonly ehrs = new Map<string, JsonObject>();
  readonly tags: JsonObject[] = [];
  readonly contributions = new Map<string, { readonly ehrId: string; readonly contribution: JsonObject }>();
  readonly versions: { readonly ehrId: string; readonly type: string; readonly version: JsonObject }[] = [];

  constructor(lines: readonly string[]) {
    for (const line of lines) this.#add(JSON.parse(line) as JsonObject);
  }

  #add(line: JsonObject): void {
    const ehrId = textAt(line, 'ehr_id') ?? '';
    if (line.kind === 'template') this.templates.push(line);
    if (line.kind === 'stored_query') this.queries.push(line);
    if (line.kind === 'item_tag') this.tags.push(objectAt(line, 'item_tag') ?? {});
    if (line.kind === 'ehr')
      this.ehrs.set(textAt(line, 'ehr', 'ehr_id', 'value') ?? '', objectAt(line, 'ehr') ?? {});
    if (line.kind === 'contribution')
      this.contributions.set(textAt(line, 'contribution', 'uid', 'value') ?? '', {
        ehrId,
        contribution: objectAt(line, 'contribution') ?? {},
      });
    if (line.kind === 'version')
      this.versions.push({
        ehrId,
        type: textAt(line, 'type') ?? '',
        version: objectAt(line, 'version') ?? {},
      });
  }

  of(ehrId: string, type: string, objectId?: string): JsonObject[] {
    return this.versions
      .filter((one) => one.ehrId === ehrId && one.type === type)
      .map(({ version }) => version)
      .filter((version) => objectId === undefined || uidOf(version).startsWith(`${objectId}::`));
  }

  /** References to the CONTRIBUTIONs of an EHR. */
  references(ehrId: string): JsonObject[] {
    return [...this.contributions]
      .filter(([, { ehrId: owner }]) => owner === ehrId)
      .map(([uid]) => ({ _type: 'OBJECT_REF', id: { _type: 'HIER_OBJECT_ID', value: uid } }));
  }

  /** The latest versions of COMPOSITIONs that are not deleted. */
  live(ehrId: string): string[] {
    const latest = new Map(this.of(ehrId, 'COMPOSITION').map((one) => [uidOf(one).split('::')[0], one]));
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
}

/** Serves lines of an export as EHRbase would: pages by LIMIT and OFFSET, a constant `Last-Modified`, texts for 404. */
export async function oldPeer(lines: readonly string[], manners: PeerManners = {}): Promise<OldPeer> {
  const store = new Store(lines);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const turn = asked.length % (manners.failsEvery ?? Infinity);
    if (manners.failsEvery !== undefined && turn === 0) return void request.socket.destroy();
    if (manners.failsEvery !== undefined && turn === 1)
      return void send(response, 500, { error: 'Internal Server Error' });
    answer(store, manners, { request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/ehrbase/rest/openehr/v1`, asked, server };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function answer(
  store: Store,
  { basic, hasTags = false, hidden = [], hidesDeletions = false, lists = false }: PeerManners,
  { request, response }: Exchange,
): void {
  const credentials = basic === undefined ? undefined : `Basic ${Buffer.from(basic).toString('base64')}`;
  if (request.headers.authorization !== credentials) return send(response, 401, { error: 'Unauthorized' });
  if (hasTags && request.url?.startsWith(TAGS) === true)
    return send(response, 200, tagsOf(store, request.url));
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://peer');
  const [, ...path] = pathname.replace('/ehrbase/rest/openehr/v1', '').split('/').map(decodeURIComponent);
  if (path[0] === 'query') return send(response, 200, rowsOf(store, searchParams.get('q') ?? ''));
  if (path[0] === 'definition') return send(response, ...definitionOf(store, path));
  const isListed = lists && path.length === 2;
  const shown = resourceOf(store, path, hidden);
  const isHidden = hidesDeletions && path.includes('version') && shown?.data === undefined;
  const own = isHidden ? undefined : shown;
  const found =
    own !== undefined && isListed ? { ...own, contributions: store.references(path[1] ?? '') } : own;
  send(response, found === undefined ? 404 : 200, found ?? NOT_FOUND);
}

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
  return store.tags.filter((tag) => tag.target === container && tag.target_type === type.toUpperCase());
}

/** Below `/definition`. */
function definitionOf(
  store: Store,
  [, kind, name, templateId]: readonly string[],
): [number, object | string] {
  if (kind === 'query') return [200, name === undefined ? store.queries : queryOf(store, name)];
  if (templateId === undefined) return [200, store.templates.map(listed)];
  const opt = store.templates.find(({ template_id: id }) => id === templateId)?.opt;
  return typeof opt === 'string' ? [200, opt] : [404, NOT_FOUND];
}

function queryOf(store: Store, name: string): JsonObject {
  return store.queries.find((query) => query.name === name) ?? NOT_FOUND;
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
  if (kind === 'directory') return objectAt(store.of(ehrId, 'FOLDER').at(-1), 'data');
  const isStatus = kind === 'versioned_ehr_status';
  if (!isStatus && hidden.includes(rest[0] ?? '')) return undefined;
  const [what, uid] = isStatus ? rest : rest.slice(1);
  const versions = store.of(ehrId, isStatus ? 'EHR_STATUS' : 'COMPOSITION', isStatus ? undefined : rest[0]);
  if (what === 'version') return versions.find((version) => uidOf(version) === uid);
  if (versions.length === 0) return undefined;
  const items = versions.map(({ uid: id = null, commit_audit: audit = null }) => ({
    version_id: id,
    audits: [audit],
  }));
  return { _type: 'REVISION_HISTORY', items };
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

function latestOf(store: Store, ehrId: string): string {
  const times = store.versions
    .filter((one) => one.ehrId === ehrId)
    .map(({ version }) => textAt(version, 'commit_audit', 'time_committed', 'value') ?? '');
  return times.sort().at(-1) ?? '';
}

function send(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === 'string';
  response.writeHead(status, {
    'Content-Type': isText ? 'application/xml' : 'application/json',
    'Last-Modified': 'Thu, 01 Jan 1970 00:00:00 GMT',
  });
  response.end(isText ? body : JSON.stringify(body));
}
