import { collapsedToken, nearestWord } from '../../openehr/base/text.js';
import type { TemplateVocabulary } from '../../openehr/template/opt/node-ids.js';
import { FIELD } from '../index/document.js';
import { indexedClass, indexedField } from '../index/indexed-paths.js';
import type { IdentifiedPath, Position, Predicate, Test, ValueExpression } from '../syntax/ast.js';
import { testsOf } from '../syntax/walk.js';
import { isArchetypeId, isNodeCode } from '../syntax/words.js';
import { demandedNodeId, isRenamed } from '../semantics/node-identity.js';
import { isSpecialisation } from '../semantics/specialisation.js';
import { isKindOf } from '../../openehr/rm/model/classes.js';
import { stepType } from '../semantics/typing.js';
import type { Alias, Scope } from '../semantics/scope-types.js';
import { counted } from '../../openehr/base/work.js';

/** A name of a query that no stored template has. */
export interface UnknownName {
  readonly kind: 'archetype' | 'node' | 'template';
  readonly name: string;
  /** The archetype that the code of a node was looked for in. */
  readonly archetype: string | null;
  readonly nearest: string | null;
  readonly at: Position;
}

/** What a name was looked for among. */
interface Suspect extends Omit<UnknownName, 'nearest'> {
  readonly among: () => Iterable<string>;
}

/**
 * Archetype ids, codes of nodes, and template ids compared by `=` and MATCHES that no template has; each place once, in the
 * order of the text, at most `limit`. Codes are looked for in the archetype that they stand in, where templates have it.
 * What stands in EHR_STATUS and FOLDER alone is of no template.
 */
export function unknownNames(
  scope: Scope,
  vocabulary: TemplateVocabulary,
  options: { readonly subsumption: boolean; readonly limit: number },
): readonly UnknownName[] {
  const found = [...new Search(scope, vocabulary, options.subsumption).all().values()];
  counted(found).sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  // The nearest names of those alone that are reported: to find one costs a look at all.
  return counted(found.slice(0, options.limit)).map(({ among, ...unknown }) => ({
    ...unknown,
    nearest: nearestWord(unknown.name, among()),
  }));
}

/** Whether `unknownNames` would name any: a query whose names are all known looks for no nearest one. */
export function hasUnknownNames(scope: Scope, vocabulary: TemplateVocabulary, subsumption: boolean): boolean {
  return new Search(scope, vocabulary, subsumption).all().size > 0;
}

class Search {
  private readonly found = new Map<string, Suspect>();
  private readonly ids = new Map<string, readonly string[]>();

  constructor(
    private readonly scope: Scope,
    private readonly vocabulary: TemplateVocabulary,
    private readonly subsumption: boolean,
  ) {}

  all(): ReadonlyMap<string, Suspect> {
    for (const alias of counted(this.scope.aliases))
      if (isOfTemplates(alias) && !(this.scope.seesAliases === true && isRenamed(alias.predicate)))
        this.predicate(alias.predicate, archetypesOfCodes(alias));
    // What a template has moved is known to one of its revisions.
    for (const { path, alias, fallbacks } of counted(this.scope.paths))
      if (fallbacks === undefined) this.path(path, alias);
    for (const test of testsOf(this.scope.query.where)) this.test(test);
    return this.found;
  }

  private test(test: Test): void {
    if (test.kind === 'exists') {
      const existence = this.scope.existenceOf(test.path);
      if ((existence.kind === 'use' ? existence.use : existence).fallbacks !== undefined) return;
      this.path(test.path, existence.kind === 'use' ? existence.use.alias : existence.alias);
    } else if (test.kind === 'matches') this.templateId(test.left, test.set.items);
    // `= NULL` is NOT EXISTS: its path is no value of a row.
    else if (test.kind === 'comparison' && test.operator === '=' && test.right.kind !== 'null')
      this.templateId(test.left, [test.right]);
  }

  private path(path: IdentifiedPath, alias: Alias): void {
    if (!isOfTemplates(alias)) return;
    const own = archetypesAround(alias);
    let around = this.predicate(path.predicate, own) ?? own;
    let classes: ReadonlySet<string> = new Set(alias.classes);
    for (const { attribute, predicate } of counted(path.steps)) {
      classes = stepType(classes, attribute).classes;
      const unnamed = isWithinEntry(classes) ? around : UNKNOWN;
      around = this.predicate(predicate, around) ?? unnamed;
    }
  }

  /** Gives the archetypes that an element that fits is of; null when the predicate names none and no code of one. */
  private predicate(predicate: Predicate | null, around: readonly string[]): readonly string[] | null {
    const below: string[] = [];
    let isCode = false;
    for (const condition of counted(predicate?.alternatives.flat() ?? [])) {
      const name = demandedNodeId(condition);
      if (name === null) continue;
      const at = condition.kind === 'node' ? condition.id.at : condition.at;
      if (isArchetypeId(name)) {
        below.push(name);
        this.archetype(name, at);
      } else if (isNodeCode(name)) {
        isCode = true;
        this.node(name, around, at);
      }
    }
    if (below.length > 0) return below;
    return isCode ? around : null;
  }

  private archetype(name: string, at: Position): void {
    const among = () => this.vocabulary.archetypes.keys();
    if (this.idsOf(name).length === 0) this.add({ kind: 'archetype', name, archetype: null, among, at });
  }

  private node(name: string, around: readonly string[], at: Position): void {
    const ids = counted(around).map((each) => this.idsOf(each));
    const [archetype = null] = around;
    // Of an archetype that no template has, nothing more is known.
    if (ids.length === 0 || counted(ids).some((each) => each.length === 0)) return;
    const codes = counted(ids.flat()).map((id) => this.vocabulary.archetypes.get(id) ?? new Set<string>());
    if (counted(codes).some((each) => each.has(name))) return;
    this.add({ kind: 'node', name, archetype, among: () => counted(codes).flatMap((each) => [...each]), at });
  }

  private templateId(left: ValueExpression, items: readonly { readonly kind: string }[]): void {
    if (left.kind !== 'path') return;
    const { alias } = this.scope.useOf(left);
    if (indexedField(indexedClass(alias), left.steps) !== FIELD.templateId) return;
    const { templates } = this.vocabulary;
    for (const item of counted(items as readonly ValueExpression[]))
      if (item.kind === 'string' && !templates.has(collapsedToken(item.value)))
        this.add({
          kind: 'template',
          name: item.value,
          archetype: null,
          among: () => templates,
          at: item.at,
        });
  }

  /** The archetypes of templates that an id stands for. */
  private idsOf(name: string): readonly string[] {
    const { archetypes } = this.vocabulary;
    if (!this.subsumption) return archetypes.has(name) ? [name] : [];
    const known = this.ids.get(name);
    if (known !== undefined) return known;
    const ids = counted([...archetypes.keys()]).filter((id) => isSpecialisation(id, name));
    this.ids.set(name, ids);
    return ids;
  }

  private add(suspect: Suspect): void {
    this.found.set(`${suspect.at.line}:${suspect.at.column}`, suspect);
  }
}

function isOfTemplates({ kind, rootTypes }: Alias): boolean {
  return kind === 'object' && rootTypes.includes('COMPOSITION');
}

/** The archetype is not known: it may be any. */
const UNKNOWN: readonly string[] = [];

/** Classes of what stands in an entry and is of its archetype: none of them begins another one, as an ITEM_TREE may. */
const WITHIN_ENTRY = ['HISTORY', 'EVENT', 'ACTIVITY', 'ISM_TRANSITION'];

function isWithinEntry(classes: Iterable<string>): boolean {
  return counted([...classes]).every((name) => WITHIN_ENTRY.some((each) => isKindOf(name, each)));
}

/** The archetypes in which the codes hold that the predicate of a class has in FROM: those of the class above it. */
function archetypesOfCodes({ parent }: Alias): readonly string[] {
  if (parent?.predicate == null) return UNKNOWN;
  const demanded = counted(parent.predicate.alternatives).map((group) =>
    counted(group)
      .map(demandedNodeId)
      .filter((name) => name !== null),
  );
  const all = (isOne: (name: string) => boolean): boolean =>
    counted(demanded).every((names) => counted(names).some(isOne));
  if (all(isArchetypeId)) return counted(demanded.flat()).filter(isArchetypeId);
  return all(isNodeCode) ? archetypesOfCodes(parent) : UNKNOWN;
}

/** The archetypes that a class is of: its own, else those of the entry that it is a part of. */
function archetypesAround(alias: Alias): readonly string[] {
  const names = counted(alias.predicate?.alternatives.flat())?.map(demandedNodeId) ?? [];
  const ids = counted(names).filter((name) => name !== null && isArchetypeId(name));
  return ids.length > 0 ? counted(ids).filter((id) => id !== null) : archetypesAboveAlias(alias);
}

/** Between a class and the one above it another archetype may stand, but not between an entry and its parts. */
function archetypesAboveAlias({ parent, classes }: Alias): readonly string[] {
  if (parent === null || !isWithinEntry(classes)) return UNKNOWN;
  const isPart =
    isWithinEntry(parent.classes) || counted(parent.classes).every((name) => isKindOf(name, 'ENTRY'));
  return isPart ? archetypesAround(parent) : UNKNOWN;
}
