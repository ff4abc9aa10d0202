import Router from '@koa/router';
import type { Operation, OperationGroup } from './operation/operation.js';
import { pathParameterNames } from './operation/parameters.js';
import { STANDARD_API, type MatchedOperation } from './request/request-state.js';

/** Where the paths of the table are served. */
export interface Mounting {
  /** Before every path but those of `/management`; empty or `/ehrbase`. */
  readonly basePath: string;
  /** Also serve the standard API below `/v1`. */
  readonly aliasV1: boolean;
}

/** What a method and a path name. */
export interface Match {
  /** null: no operation has this path and method. */
  readonly matched: MatchedOperation | null;
  /** Where nothing matched, the methods that the path does have; empty: no operation has this path. */
  readonly allowed: readonly string[];
}

type Layer = ReturnType<Router['match']>['pathAndMethod'][number];

/** All operations of a server, to be found by method and path. Nothing else is served. */
export class OperationTable {
  /** By method and number of segments, which a parameter never spans: one request is compared with few patterns. */
  readonly #routers = new Map<string, Router>();
  readonly #operations = new Map<string, Operation>();

  constructor(
    readonly groups: readonly OperationGroup[],
    mounting: Mounting,
  ) {
    for (const operation of bySpecificity(groups.flatMap((group) => group.operations)))
      for (const path of mountedPaths(operation.path, mounting)) this.#add(operation, path);
  }

  /** Every operation, in the order of the groups. */
  get operations(): Operation[] {
    return this.groups.flatMap((group) => group.operations);
  }

  /** Finds the operation of a request; the other methods of its path are looked for only when it has none. Paths are compared with their case; one trailing slash makes no difference. */
  match(method: string, path: string): Match {
    const segments = segmentCount(path);
    const layer = this.#layer(method, segments, path);
    const operation = this.#operations.get(layer?.name ?? '');
    if (layer === undefined || operation === undefined)
      return { matched: null, allowed: METHODS.filter((other) => this.#layer(other, segments, path)) };
    return { matched: { operation, params: layer.params(path, layer.captures(path)) }, allowed: [] };
  }

  #layer(method: string, segments: number, path: string): Layer | undefined {
    return this.#routers.get(`${method} ${segments}`)?.match(path, method).pathAndMethod[0];
  }

  #add(operation: Operation, path: string): void {
    pathParameterNames(operation.path);
    const known = this.#operations.get(operation.id);
    if (known !== undefined && known !== operation)
      throw new TypeError(`two operations have the id ${operation.id}`);
    this.#operations.set(operation.id, operation);
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const opts = { name: operation.id, sensitive: true };
    // The router only finds: what runs before the handler is the same for all operations, and stands in src/app.ts.
    for (const method of operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]) {
      const key = `${method} ${segmentCount(path)}`;
      const router = this.#routers.get(key) ?? new Router({ sensitive: true });
      this.#routers.set(key, router);
      router.register(pattern, [method], () => undefined, opts);
    }
  }
}

/** All that an operation of the table can have, in the order in which `Allow` names them. */
const METHODS = ['HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'];

/** One trailing slash makes no difference. */
function segmentCount(path: string): number {
  const { length } = path.split('/');
  return path.endsWith('/') ? length - 1 : length;
}

/** Literal segments win over parameters, whatever the order of the groups. */
function bySpecificity(operations: readonly Operation[]): Operation[] {
  const rank = ({ path }: Operation): string => path.replaceAll(/\{\w+\}/g, '\u{10ffff}');
  return [...operations].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}

/** The paths that an operation answers at, the first being the documented one. */
function mountedPaths(path: string, { basePath, aliasV1 }: Mounting): string[] {
  if (path === '/management' || path.startsWith('/management/')) return [path];
  const alias = aliasV1 && path.startsWith(STANDARD_API) ? `/v1${path.slice(STANDARD_API.length)}` : null;
  return [path, ...(alias === null ? [] : [alias])].map((one) => `${basePath}${one}`);
}

/** The documented path of an operation with the values of its parameters: equal for every spelling of a request. */
export function filledPath({ operation, params }: MatchedOperation): string {
  return pathParameterNames(operation.path).reduce<string>(
    (path, name) => path.replace(`{${name}}`, () => params[name] ?? ''),
    operation.path,
  );
}
