import { parseEhrId } from '../../../openehr/base/object-version-id.js';
import { aqlError } from '../../syntax/aql-error.js';
import type { ClassExpression, Condition, FromExpression, Predicate, BoundQuery } from '../../syntax/ast.js';
import { classesBelow, FROM_CLASS_NAMES, fromClass, rootTypesOf } from '../classes.js';
import { ROOT_TYPES } from '../../../openehr/rm/root-type.js';
import { rootInEhr } from './lift-ehr.js';
import { nearestWord } from '../../../openehr/base/text.js';
import { demandsNodeCode, demandsNodeId, isPlainPath } from '../node-identity.js';
import { renderValue } from '../../syntax/render.js';
import { classesOf, conjunctsOf } from '../../syntax/walk.js';
import type { Alias, FromNode } from '../scope-types.js';
import type { RootType } from '../../../openehr/rm/root-type.js';
import { counted } from '../../../openehr/base/work.js';

/** FROM resolved. */
export interface FromScope {
  readonly from: FromNode;
  readonly aliases: readonly Alias[];
  /** All named aliases by variable, those below NOT CONTAINS too. */
  readonly named: ReadonlyMap<string, Alias>;
}

interface ClassContext {
  readonly parent: Alias | null;
  readonly negated: boolean;
  readonly optional: boolean;
  /** Not an operand of AND or OR. */
  readonly alone: boolean;
  /** Versioned objects that can stand here. */
  readonly rootTypes: readonly RootType[];
}

const TOP: ClassContext = {
  parent: null,
  negated: false,
  optional: false,
  alone: true,
  rootTypes: ROOT_TYPES,
};

/**
 * Gives every class of FROM its meaning and context. `ehrId`: the request's ehr_id, which fixes every EHR.
 * @throws invalid for unknown classes, duplicate variables, mixed roots, at-codes without archetype above
 */
export function resolveFrom(query: BoundQuery, ehrId: string | null): FromScope {
  const { from, implicit } = rootInEhr(query.from);
  const order = counted([...classesOf(from)]).filter((each) => !implicit.has(each));
  counted(order).sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  const builder = new Builder([...order, ...implicit], implicit, query.where, ehrId);
  const node = builder.build(from, TOP);
  return { from: node, aliases: builder.aliases, named: builder.named };
}

class Builder {
  readonly aliases: Alias[] = [];
  readonly named = new Map<string, Alias>();
  private readonly indexes: ReadonlyMap<string, number>;

  constructor(
    order: readonly ClassExpression[],
    private readonly implicit: ReadonlySet<ClassExpression>,
    private readonly where: Condition | null,
    private readonly ehrId: string | null,
  ) {
    // Lifting copies class nodes, so the position in the text is what identifies them.
    this.indexes = new Map(counted(order).map((each, index) => [this.key(each), index]));
  }

  private key(expression: ClassExpression): string {
    const { at } = expression;
    return `${at.line}:${at.column}:${this.implicit.has(expression) ? 'implicit' : ''}`;
  }

  build(from: FromExpression, context: ClassContext): FromNode {
    if (from.kind === 'class') return this.buildClass(from, context);
    const kind = from.kind === 'from-and' ? 'and' : 'or';
    const inner = { ...context, alone: false, optional: context.optional || kind === 'or' };
    return { kind, operands: counted(from.operands).map((operand) => this.build(operand, inner)) };
  }

  private buildClass(expression: ClassExpression, context: ClassContext): FromNode {
    const alias = this.alias(expression, context);
    this.aliases[alias.index] = alias;
    if (alias.variable !== null) this.name(alias.variable, alias);
    const { contains } = expression;
    if (alias.kind === 'version' && contains === null)
      throw aqlError(expression.at, 'VERSION must be followed by CONTAINS');
    if (contains === null) return { kind: 'class', alias, contains: null };
    const inner: ClassContext = {
      parent: alias,
      negated: context.negated || contains.negated,
      optional: context.optional,
      alone: true,
      rootTypes: rootTypesBelow(alias),
    };
    const child = this.build(contains.child, inner);
    return { kind: 'class', alias, contains: { negated: contains.negated, child } };
  }

  private alias(expression: ClassExpression, context: ClassContext): Alias {
    const { className, predicate, at } = expression;
    const meaning = fromClass(className);
    if (meaning === undefined) throw unknownClass(expression);
    const { kind } = meaning;
    const rootTypes =
      kind === 'object' ? rootTypesHere(expression, meaning.classes, context) : context.rootTypes;
    const classes = classesHere(meaning.classes, rootTypes);
    refuseAtCodeWithoutArchetype(expression, context.parent);
    if (kind === 'version' && context.parent?.kind === 'version')
      throw aqlError(at, 'a VERSION cannot contain a VERSION');
    return {
      index: this.indexes.get(this.key(expression)) ?? 0,
      variable: expression.variable,
      className,
      kind,
      classes,
      rootTypes,
      parent: context.parent,
      predicate,
      versions: aliasVersions(expression, kind),
      fixedEhrId: kind === 'ehr' ? this.fixedEhrId(expression) : null,
      implicit: this.implicit.has(expression),
      negated: context.negated,
      optional: context.optional,
      impossible: isImpossible(kind, classes, context.parent),
      at,
    };
  }

  private name(variable: string, alias: Alias): void {
    if (this.named.has(variable)) throw aqlError(alias.at, `the variable '${variable}' is defined twice`);
    this.named.set(variable, alias);
  }

  private fixedEhrId(expression: ClassExpression): string | null {
    if (this.ehrId !== null) return parseEhrId(this.ehrId) ?? this.ehrId;
    const { variable, predicate } = expression;
    const fixed =
      ehrIdOfPredicate(predicate) ?? (variable === null ? null : ehrIdOfWhere(this.where, variable));
    return fixed === null ? null : (parseEhrId(fixed) ?? fixed);
  }
}

function ehrIdOfPredicate(predicate: Predicate | null): string | null {
  const [only, ...others] = predicate?.alternatives ?? [];
  if (only === undefined || others.length > 0) return null;
  for (const each of counted(only)) {
    if (each.kind !== 'predicate-comparison' || each.operator !== '=') continue;
    if (isPlainPath(each, ['ehr_id', 'value']) && each.operand.kind === 'string') return each.operand.value;
  }
  return null;
}

/**
 * The ehr_id that a top-level AND condition of WHERE demands of a variable (docs/spec/aql.md#visibility),
 * else null.
 */
function ehrIdOfWhere(where: Condition | null, variable: string): string | null {
  for (const each of counted(conjunctsOf(where))) {
    if (each.kind !== 'comparison' || each.operator !== '=' || each.right.kind !== 'string') continue;
    const { left, right } = each;
    const isOfEhr = left.kind === 'path' && left.variable === variable;
    if (isOfEhr && renderValue({ ...left, variable: '' }) === '/ehr_id/value') return right.value;
  }
  return null;
}

function rootTypesBelow(alias: Alias): readonly RootType[] {
  if (alias.kind !== 'object') return alias.kind === 'ehr' ? ROOT_TYPES : alias.rootTypes;
  // A FOLDER holds the COMPOSITIONs that it refers to.
  return alias.classes.includes('FOLDER') && alias.rootTypes.includes('FOLDER')
    ? ROOT_TYPES.filter((root) => root === 'COMPOSITION' || alias.rootTypes.includes(root))
    : alias.rootTypes;
}

function isImpossible(kind: Alias['kind'], classes: readonly string[], parent: Alias | null): boolean {
  if (kind === 'ehr') return parent !== null;
  if (parent === null || parent.kind !== 'object') return false;
  const isFolder = parent.classes.includes('FOLDER');
  if (kind === 'version') return !isFolder;
  const above = isFolder ? [...parent.classes, 'COMPOSITION'] : parent.classes;
  const isBelow = (name: string): boolean => counted(above).some((each) => classesBelow(each).has(name));
  return !counted(classes).some((name) => isBelow(name) || (isFolder && name === 'COMPOSITION'));
}

function refuseAtCodeWithoutArchetype(
  { predicate, className, at }: ClassExpression,
  parent: Alias | null,
): void {
  if (predicate === null || !demandsNodeCode(predicate) || demandsNodeId(parent?.predicate ?? null)) return;
  throw aqlError(
    at,
    `the at-code of ${className} needs an archetype: the class above it must have an archetype id or an at-code`,
  );
}

function rootTypesHere(
  expression: ClassExpression,
  classes: readonly string[],
  context: ClassContext,
): readonly RootType[] {
  const possible = rootTypesOf(classes);
  const rootTypes = counted(context.rootTypes).filter((root) => possible.includes(root));
  if (rootTypes.length === 0) throw mixedRoots(expression, context.parent);
  return rootTypes;
}

/** What an abstract class can be in such roots: below a COMPOSITION a LOCATABLE is no FOLDER, which would hold COMPOSITIONs. */
function classesHere(classes: readonly string[], rootTypes: readonly RootType[]): readonly string[] {
  return rootTypes.includes('FOLDER') || classes.length === 1
    ? classes
    : counted(classes).filter((name) => name !== 'FOLDER');
}

function aliasVersions({ versions, predicate }: ClassExpression, kind: Alias['kind']): Alias['versions'] {
  return versions ?? (kind === 'version' && predicate !== null ? 'predicate' : 'latest');
}

function mixedRoots({ className, at }: ClassExpression, parent: Alias | null): Error {
  const above = parent?.className ?? 'EHR';
  return aqlError(at, `${above} cannot contain ${className}: they belong to different versioned objects`);
}

function unknownClass({ className, at }: ClassExpression): Error {
  const nearest = nearestWord(className, FROM_CLASS_NAMES);
  const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
  return aqlError(at, `FROM cannot name the class '${className}'${meant}`);
}
