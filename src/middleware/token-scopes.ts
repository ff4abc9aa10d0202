import type { Context, Middleware, Next } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { AskedQuery, SmartGrants } from '../../policy/smart-grants.js';
import type { ScopePermission } from '../../policy/smart-scope.js';
import type { Operation } from '../../routes/http/operation/operation.js';
import type { ParameterName } from '../../routes/http/operation/parameters.js';
import { currentOperation, type DefinitionScopes } from '../../routes/http/request/request-state.js';

/** What an operation that gives nothing of a record is about. */
interface Need {
  readonly kind: 'template' | 'aql';
  readonly permission: ScopePermission;
  /** Parameter of the path with the name; absent: the operation itself looks at names. */
  readonly name?: ParameterName;
}

const template = (permission: ScopePermission, name?: ParameterName): Need => ({
  kind: 'template',
  permission,
  ...(name !== undefined && { name }),
});
const query = (permission: ScopePermission, name?: ParameterName): Need => ({
  ...template(permission, name),
  kind: 'aql',
});

/** Operations on definitions, by id. */
const NEEDS: Readonly<Record<string, Need>> = {
  'template_adl1.4_upload': template('c'),
  'template_adl1.4_list': template('s'),
  'template_adl1.4_get': template('r', 'template_id'),
  'template_adl1.4_example': template('r', 'template_id'),
  'template_adl1.4_webtemplate': template('r', 'template_id'),
  query_list_all: query('r'),
  query_list: query('r'),
  query_get: query('r', 'qualified_query_name'),
  query_store: query('c', 'qualified_query_name'),
  query_store_version: query('c', 'qualified_query_name'),
};

/** What tells of the server and of code systems alone, beside what is open to everybody. */
const FREE: readonly string[] = ['options', 'status_get', 'terminology_search'];

/**
 * Lets a token with scopes of SMART on openEHR do what these are about, and nothing else: executing queries, definitions, and what
 * `enforcedPolicies` judges by the records that it gives or changes. A row of the table that neither says is refused. docs/smart.md#operations
 */
export function tokenScopes({
  templateAllowOverwrite,
  templateRevisions,
}: Pick<Settings, 'templateAllowOverwrite' | 'templateRevisions'>): Middleware {
  const mayChange = templateAllowOverwrite || templateRevisions;
  return async (ctx: Context, next: Next) => {
    const smart = ctx.state.user?.smart;
    if (smart !== undefined) {
      requireScope(ctx, smart);
      ctx.state.definitionScopes = definitionScopes(smart, mayChange ? ['c', 'u'] : ['c']);
    }
    await next();
  };
}

function requireScope(ctx: Context, smart: SmartGrants): void {
  const { operation, params } = currentOperation(ctx);
  const need = Object.hasOwn(NEEDS, operation.id) ? NEEDS[operation.id] : undefined;
  if (need !== undefined) {
    const name = need.name === undefined ? null : (params[need.name] ?? '');
    if (!smart.allows(need.kind, need.permission, name)) throw insufficientScope();
    return;
  }
  const asked = askedQuery(ctx);
  if (asked === null ? !isJudged(operation) : !smart.allowsQuery(asked)) throw insufficientScope();
}

/** Whether it is open to everybody, tells of no record, or is judged by the records that it is about. */
function isJudged({ id, access, discloses }: Operation): boolean {
  return access === 'open' || FREE.includes(id) || (discloses !== 'nothing' && discloses !== 'whole');
}

/** The query that a request executes; null: none. */
export function askedQuery(ctx: Context): AskedQuery | null {
  const { operation, params } = currentOperation(ctx);
  if (operation.discloses !== 'query') return null;
  const { qualified_query_name: name } = params;
  return name === undefined ? { kind: 'ad hoc' } : { kind: 'stored', name };
}

function definitionScopes(smart: SmartGrants, upload: readonly ScopePermission[]): DefinitionScopes {
  return {
    lists: (kind, name) => smart.allows(kind, kind === 'template' ? 's' : 'r', name),
    requireUpload: (templateId) => {
      if (!upload.every((permission) => smart.allows('template', permission, templateId)))
        throw insufficientScope();
    },
  };
}

/** RFC 6750, section 3.1. The same whether or not what is asked for is there. */
function insufficientScope(): CdrError {
  return new CdrError('forbidden', 'no scope of this token permits this', {
    challenge: ['Bearer error="insufficient_scope"'],
  });
}
