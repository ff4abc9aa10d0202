import type { JsonObject } from '../../openehr/base/json.js';
import { counted } from '../../openehr/base/work.js';
import type { Alias, Scope } from '../semantics/scope-types.js';
import type { IdentifiedPath, Predicate } from '../syntax/ast.js';
import { renderPredicate, renderValue } from '../syntax/render.js';
import { existencePath, testsOf } from '../syntax/walk.js';

/** Where else a path is looked for, or what else a class of FROM may be called, in COMPOSITIONs of a template. */
interface Elsewhere {
  readonly templateIds: readonly string[];
  readonly text: string;
}

/** What of a query is seen as one with what templates have moved, as explain tells it (docs/spec/aql.md#explain). */
export function aliasSummary(scope: Scope): readonly JsonObject[] {
  const found = new Map<string, readonly Elsewhere[]>();
  for (const alias of counted(scope.aliases)) addClass(alias, found);
  for (const { path, fallbacks = [] } of counted(scope.paths))
    addPath(
      path,
      counted(fallbacks).map(({ path: other, instead }) => elsewhere(other, instead?.templateIds)),
      found,
    );
  for (const test of testsOf(scope.query.where)) {
    const path = existencePath(test);
    const existence = path === null ? null : scope.existenceOf(path);
    if (path === null || existence?.kind !== 'search') continue;
    const others = counted(existence.fallbacks ?? []);
    addPath(
      path,
      others.map((each) => elsewhere(each.existence.path, each.templateIds)),
      found,
    );
  }
  return counted([...found]).map(([seen, others]) => ({
    seen,
    as: counted(others).map(({ text, templateIds }) => ({ text, template_id: templateIds.at(-1) ?? '' })),
  }));
}

function elsewhere(path: IdentifiedPath, templateIds: readonly string[] = []): Elsewhere {
  return { text: renderValue(path), templateIds };
}

function addPath(
  path: IdentifiedPath,
  others: readonly Elsewhere[],
  found: Map<string, readonly Elsewhere[]>,
): void {
  if (others.length > 0) found.set(renderValue(path), others);
}

function addClass({ className, variable, predicate }: Alias, found: Map<string, readonly Elsewhere[]>): void {
  if (predicate === null) return;
  const { alternatives, at } = predicate;
  const isWritten = (group: Predicate['alternatives'][number]): boolean =>
    counted(group).every((each) => each.kind !== 'node' || each.template === undefined);
  const others = counted(alternatives).filter((group) => !isWritten(group));
  if (others.length === 0) return;
  const called = variable === null ? className : `${className} ${variable}`;
  const text = (groups: Predicate['alternatives']): string =>
    called + renderPredicate({ kind: 'predicate', alternatives: groups, at });
  found.set(
    text(counted(alternatives).filter(isWritten)),
    others.map((group) => ({
      text: text([group]),
      templateIds: counted(group).flatMap((each) => (each.kind === 'node' ? (each.template ?? []) : [])),
    })),
  );
}
