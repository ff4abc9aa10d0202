import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { maskedAql } from '../../aql/syntax/masked.js';
import { comparableText } from '../../aql/result/result-set.js';
import type { Scope } from '../../aql/semantics/scope-types.js';
import { auditKey } from '../../models/settings.js';
import { auditAbout, isAudited } from '../http/audit-trail.js';
import type { QueryRequest } from '../../query/compile.js';

/** Tells the audit which query is asked, before anything of it can fail. `name`: of a stored query. */
export async function auditQuery(
  ctx: Context,
  q: string,
  name: string | null,
  { parameters, ehrId }: QueryRequest,
): Promise<void> {
  if (!isAudited(ctx)) return;
  const aql = maskedAql(q);
  const { values } = parameters;
  auditAbout(ctx, {
    ...(aql !== null && { aql }),
    aql_hash: await hashOf(q),
    ...(name !== null && { objects: [name] }),
    ...(ehrId !== null && { ehr_id: ehrId }),
    ...(values.size > 0 && { parameters_hash: await hashOf(comparableText(Object.fromEntries(values))) }),
  });
}

/** Equal texts and parameters are recognised by it, their values are not: a name or number could be guessed from a plain hash. */
async function hashOf(text: string): Promise<string> {
  return createHmac('sha256', await auditKey())
    .update(text)
    .digest('hex');
}

/** Tells the audit which EHR a query is fixed to, or that its rows may stand for many. */
export function auditScope(ctx: Context, scope: Scope): void {
  if (!isAudited(ctx)) return;
  const [only, ...others] = fixedEhrs(scope);
  const isFixed = scope.aliases.every(({ kind, fixedEhrId }) => kind !== 'ehr' || fixedEhrId !== null);
  const isGrouped =
    scope.query.select.distinct || scope.columns.some(({ expression }) => expression.kind === 'aggregate');
  if (isFixed && only !== undefined && others.length === 0) auditAbout(ctx, { ehr_id: only });
  if (isGrouped && !isFixed) auditAbout(ctx, { population: true });
}

/** The EHRs that a query names, each once; rows of it need not have them. */
export function fixedEhrs({ aliases }: Scope): string[] {
  return [...new Set(aliases.flatMap(({ kind, fixedEhrId }) => (kind === 'ehr' ? (fixedEhrId ?? []) : [])))];
}
