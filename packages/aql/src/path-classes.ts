import { isKindOf } from '../../../openehr/rm/model/classes.js';
import { fromClass } from '../../../aql/semantics/classes.js';
import { classSet, stepType } from '../../../aql/semantics/typing.js';
import type {
  FromExpression,
  IdentifiedPath,
  PathStep,
  Placeholder,
  Predicate,
} from '../../../aql/syntax/ast.js';
import { isArchetypeId } from '../../../aql/syntax/words.js';
import { classesOf } from '../../../aql/syntax/walk.js';
import { pathOf, type Catalogue, type CatalogueNode, type CodedStep } from './catalogue.js';

/** What a path starts at, or has come to. */
export interface Place {
  readonly classes: ReadonlySet<string>;
  /** The archetype around it, null when it is not known. */
  readonly archetype: string | null;
  /** Steps behind the object of the archetype. */
  readonly steps: readonly CodedStep[];
  /** What templates say of the place, where they do. */
  readonly node: CatalogueNode | undefined;
}

/** A place at the object that a class of FROM stands for. */
export function placeOfClass(className: string, archetype: string | null): Place {
  const classes = classSet(fromClass(className)?.classes ?? NO_CLASSES);
  return { classes, archetype, steps: [], node: undefined };
}

const NO_CLASSES: readonly string[] = [];

/** One step on: the classes of the class table, and of those what templates allow. */
export function stepFrom(place: Place, step: CodedStep, catalogue: Catalogue | null): Place {
  const possible = stepType(place.classes, step.attribute).classes;
  if (step.code !== null && isArchetypeId(step.code)) {
    const name = catalogue?.archetype(step.code)?.className;
    const classes = name === undefined ? possible : narrowed(possible, new Set([name]));
    return { classes, archetype: step.code, steps: [], node: undefined };
  }
  const steps = [...place.steps, step];
  const archetype = place.archetype === null ? undefined : catalogue?.archetype(place.archetype);
  const node = archetype?.nodes.get(pathOf(steps));
  const classes = node === undefined ? possible : narrowed(possible, node.classes);
  return { classes, archetype: place.archetype, steps, node };
}

/** Those of the classes that are one of `allowed`, all when none is. */
function narrowed(classes: ReadonlySet<string>, allowed: ReadonlySet<string>): ReadonlySet<string> {
  const fitting = [...classes].filter((name) => [...allowed].some((each) => isKindOf(name, each)));
  return fitting.length === 0 ? classes : new Set(fitting);
}

/** Where a whole path ends. */
export function placeOfPath(
  start: Place,
  { predicate, steps }: Pick<IdentifiedPath<Placeholder>, 'predicate' | 'steps'>,
  catalogue: Catalogue | null,
): Place {
  let place = { ...start, archetype: archetypeOf(predicate) ?? start.archetype };
  for (const step of steps) place = stepFrom(place, codedStep(step), catalogue);
  return place;
}

/** A step of the syntax tree with the code that its predicate demands. */
export function codedStep({ attribute, predicate }: PathStep<Placeholder>): CodedStep {
  return { attribute, code: codesOf(predicate)[0] ?? null };
}

/** Codes and archetype ids that a predicate without OR demands. */
function codesOf(predicate: Predicate<Placeholder> | null): readonly string[] {
  const [only, ...others] = predicate?.alternatives ?? [];
  if (only === undefined || others.length > 0) return [];
  return only.flatMap((condition) => {
    if (condition.kind === 'node') return [condition.id.value];
    if (condition.kind !== 'predicate-comparison' || condition.operator !== '=') return [];
    const { path, operand } = condition;
    const isId = path.steps.length === 1 && path.steps[0]?.attribute === 'archetype_node_id';
    return isId && (operand.kind === 'string' || operand.kind === 'node-id') ? [operand.value] : [];
  });
}

function archetypeOf(predicate: Predicate<Placeholder> | null): string | null {
  return codesOf(predicate).find(isArchetypeId) ?? null;
}

/** The places that the variables of FROM stand for. */
export function variablesOf(from: FromExpression<Placeholder>): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  for (const { variable, className, predicate } of classesOf(from))
    if (variable !== null) found.set(variable, placeOfClass(className, archetypeOf(predicate)));
  return found;
}
