import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import type { BoundQuery } from '../syntax/ast.js';
import { renderAql, renderPredicate, renderValue } from '../syntax/render.js';
import type { FromNode, Scope } from '../semantics/scope-types.js';
import { counted } from '../../openehr/base/work.js';

/** One stage of what MongoDB says it did. Never values of documents. */
export interface ExplainedStage {
  readonly stage: string;
  readonly index: string | null;
  readonly documentsExamined: number | null;
  readonly keysExamined: number | null;
  readonly returned: number | null;
  readonly milliseconds: number | null;
}

/** The parts of a query in words. */
export function querySummary(query: BoundQuery, scope: Scope): JsonObject {
  return {
    select: counted(query.select.columns).map(({ expression }) => renderValue(expression)),
    distinct: query.select.distinct,
    from: fromSummary(scope.from),
    where: query.where === null ? null : whereText(query),
    order_by: counted(scope.orderBy).map(
      ({ expression, descending }) => `${renderValue(expression)} ${descending ? 'DESC' : 'ASC'}`,
    ),
    paths: counted(scope.paths).map(({ path, type }) => ({
      path: renderValue(path),
      types: [...type.classes],
      domains: [...type.domains],
    })),
  };
}

/** Its WHERE as AQL; with a `condition` that one alone. */
export function whereText(query: BoundQuery, condition = query.where): string {
  const bare = { ...query, orderBy: [], limit: null };
  return renderAql({ ...bare, where: condition }).slice(
    `${renderAql({ ...bare, where: null })} WHERE `.length,
  );
}

function fromSummary(node: FromNode): JsonObject {
  if (node.kind !== 'class') return { [node.kind]: counted(node.operands).map(fromSummary) };
  const { alias, contains } = node;
  return {
    class: alias.className,
    ...(alias.variable === null ? {} : { variable: alias.variable }),
    ...(alias.implicit ? { implicit: true } : {}),
    ...(alias.predicate === null ? {} : { predicate: renderPredicate(alias.predicate) }),
    ...(alias.kind === 'version' ? { versions: alias.versions } : {}),
    ...(contains === null
      ? {}
      : { [contains.negated ? 'not_contains' : 'contains']: fromSummary(contains.child) }),
  };
}

/** What MongoDB's `explain('executionStats')` of a pipeline says, stage by stage. */
export function explainedStages(explained: JsonValue): ExplainedStage[] {
  if (!isJsonObject(explained)) return [];
  if (!Array.isArray(explained.stages)) return cursorStages(explained);
  return counted(explained.stages).filter(isJsonObject).flatMap(pipelineStage);
}

function pipelineStage(stage: JsonObject): ExplainedStage[] {
  const name = counted(Object.keys(stage)).find((key) => key.startsWith('$')) ?? '';
  const cursor = stage[name];
  if (name === '$cursor' && isJsonObject(cursor)) return cursorStages(cursor);
  const used = Array.isArray(stage.indexesUsed) ? stage.indexesUsed : [];
  const indexes = counted(used)
    .filter((index) => typeof index === 'string')
    .join(', ');
  return [
    {
      stage: name,
      index: indexes === '' ? null : indexes,
      documentsExamined: reportedNumber(stage.totalDocsExamined),
      keysExamined: reportedNumber(stage.totalKeysExamined),
      returned: reportedNumber(stage.nReturned),
      milliseconds: reportedNumber(stage.executionTimeMillisEstimate),
    },
  ];
}

/** The part that the query engine ran: which indexes, and how much it looked at in all. */
function cursorStages({ queryPlanner, executionStats }: JsonObject): ExplainedStage[] {
  const plan = isJsonObject(queryPlanner) ? queryPlanner.winningPlan : undefined;
  const stats: JsonObject = isJsonObject(executionStats) ? executionStats : {};
  const scans = scansOf(plan ?? null);
  return [
    {
      stage: scans.stages.join(', ') || 'find',
      index: scans.indexes.join(', ') || null,
      documentsExamined: reportedNumber(stats.totalDocsExamined),
      keysExamined: reportedNumber(stats.totalKeysExamined),
      returned: reportedNumber(stats.nReturned),
      milliseconds: reportedNumber(stats.executionTimeMillis),
    },
  ];
}

function scansOf(plan: JsonValue): { readonly stages: string[]; readonly indexes: string[] } {
  const stages = new Set<string>();
  const indexes = new Set<string>();
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) counted(value).forEach(visit);
    if (!isJsonObject(value)) return;
    if (typeof value.stage === 'string' && /SCAN|IDHACK|EOF/.test(value.stage)) stages.add(value.stage);
    if (typeof value.indexName === 'string') indexes.add(value.indexName);
    for (const key of ['inputStage', 'inputStages', 'queryPlan', 'outerStage', 'innerStage', 'shards'])
      if (value[key] !== undefined) visit(value[key]);
  };
  visit(plan);
  return { stages: [...stages], indexes: [...indexes] };
}

function reportedNumber(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
