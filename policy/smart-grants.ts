import { all, any, FALSE, TRUE, type Condition, type Permitted } from './condition.js';
import type { Request } from './known.js';
import {
  isAnyName,
  isNamed,
  namedCondition,
  readScope,
  type ScopeKind,
  type ScopePermission,
  type SmartScope,
} from './smart-scope.js';
import type { Action } from './subject.js';

/** The query that is executed: by the name under which it is stored, or its text is given. */
export type AskedQuery = { readonly kind: 'stored'; readonly name: string } | { readonly kind: 'ad hoc' };

/** What the scopes of a token grant, each for itself; nothing else is. docs/smart.md#what-scopes-grant */
export class SmartGrants {
  /** Scopes that look as if they were about records, and cannot be read: they grant nothing. */
  readonly unreadable: readonly string[];
  readonly #scopes: readonly SmartScope[];

  private constructor(scopes: readonly SmartScope[], unreadable: readonly string[]) {
    this.#scopes = scopes;
    this.unreadable = unreadable;
  }

  /** Of the words of a token's scope; null: none of them is about records, so that they restrict nothing. */
  static of(words: readonly string[]): SmartGrants | null {
    const scopes: SmartScope[] = [];
    const unreadable: string[] = [];
    for (const word of words) {
      const scope = readScope(word);
      if (scope === 'unreadable') unreadable.push(word);
      else if (scope !== null) scopes.push(scope);
    }
    return scopes.length + unreadable.length === 0 ? null : new SmartGrants(scopes, unreadable);
  }

  /** Of a token that must have scopes, and has none. */
  static readonly nothing = new SmartGrants([], []);

  /** Whether any scope is about records of the one patient whose EHR the token has to name. */
  get needsEhr(): boolean {
    return this.#ofRecords.some(({ compartment }) => compartment === 'patient');
  }

  /** Whether a scope for something of this kind and name has a permission; `name` null: whatever its name. */
  allows(kind: Exclude<ScopeKind, 'composition'>, permission: ScopePermission, name: string | null): boolean {
    return this.#scopes.some(
      (scope) =>
        scope.kind === kind &&
        scope.permissions.has(permission) &&
        (name === null || isNamed(scope.name, name)),
    );
  }

  /** Whether any scope lets a query be executed: one for it, or one for COMPOSITIONs that may be searched for. */
  allowsQuery(query: AskedQuery): boolean {
    return this.#scopes.some((scope) => letsFind(scope, query) !== null);
  }

  /** What is granted of the records. `query`: the one that is executed; null: none is. */
  permitted({ subject, action }: Request, query: AskedQuery | null): Permitted {
    const inCompartment = ({ compartment }: SmartScope, condition: Condition): Condition => {
      if (compartment !== 'patient') return condition;
      const ehr = subject.openedFor ?? subject.ehr;
      return ehr === undefined
        ? FALSE
        : all([{ kind: 'equals', attribute: 'ehr_id', among: [ehr] }, condition]);
    };
    const granted = (of: (scope: SmartScope) => Condition): Condition =>
      any(this.#ofRecords.map((scope) => inCompartment(scope, of(scope))));
    return {
      ehr: granted((scope) => ehrOf(scope, action, query)),
      version: granted((scope) => versionOf(scope, action, query)),
    };
  }

  /** Those by which something in an EHR can be done. */
  get #ofRecords(): readonly SmartScope[] {
    return this.#scopes.filter(
      ({ kind, permissions }) => kind === 'composition' || (kind === 'aql' && permissions.has('s')),
    );
  }
}

const COMPOSITION: Condition = { kind: 'equals', attribute: 'kind', among: ['COMPOSITION'] };
/** Says whose EHR it is, and whether it may be changed: whoever may do something in it has to find it. */
const EHR_STATUS: Condition = { kind: 'equals', attribute: 'kind', among: ['EHR_STATUS'] };

const PERMISSIONS: Readonly<Record<Exclude<Action, 'query' | 'export'>, ScopePermission>> = {
  create: 'c',
  read: 'r',
  update: 'u',
  delete: 'd',
};

/** The EHR is there for whoever may do anything in it, and is made, changed and taken away by no scope. */
function ehrOf(scope: SmartScope, action: Action, query: AskedQuery | null): Condition {
  if (action === 'query') return query === null || letsFind(scope, query) === null ? FALSE : TRUE;
  return action === 'read' ? TRUE : FALSE;
}

function versionOf(scope: SmartScope, action: Action, query: AskedQuery | null): Condition {
  if (action === 'query') return (query === null ? null : letsFind(scope, query)) ?? FALSE;
  if (action === 'export') return FALSE;
  if (scope.kind !== 'composition') return FALSE;
  const own = scope.permissions.has(PERMISSIONS[action]) ? compositionsOf(scope) : FALSE;
  return action === 'read' ? any([EHR_STATUS, own]) : own;
}

function compositionsOf({ name }: Pick<SmartScope, 'name'>): Condition {
  return all([COMPOSITION, namedCondition('template_id', name)]);
}

/** What a query finds by a scope, in its compartment; null: it is not executed by it. */
function letsFind({ kind, name, permissions }: SmartScope, query: AskedQuery): Condition | null {
  if (!permissions.has('s') || kind === 'template') return null;
  if (kind === 'composition') return compositionsOf({ name });
  const isGiven = query.kind === 'stored' ? isNamed(name, query.name) : isAnyName(name);
  return isGiven ? TRUE : null;
}
