import { all, isLike, not, type Condition, type PatternPiece } from './condition.js';

/** Whose records a scope is about: those of the patient whose EHR the token names, or of everybody. */
type Compartment = 'patient' | 'user' | 'system';

/** What a scope is about. */
export type ScopeKind = 'composition' | 'template' | 'aql';

/** Create, read, update, delete, search. */
export type ScopePermission = 'c' | 'r' | 'u' | 'd' | 's';

/** Names that a scope is about. */
export interface NamePattern {
  /** Text, and null for each wildcard. */
  readonly pieces: readonly PatternPiece[];
  /** What `**` stands for may have a colon in it, what `*` stands for has none. */
  readonly passesColons: boolean;
}

/** A scope of SMART on openEHR: `<compartment>/<kind>-<name>.<permissions>`. docs/smart.md#scopes */
export interface SmartScope {
  readonly compartment: Compartment;
  readonly kind: ScopeKind;
  readonly name: NamePattern;
  readonly permissions: ReadonlySet<ScopePermission>;
}

/** How a scope begins that is about records, however the rest reads. */
const RESOURCE_SCOPE = /^(?:patient|user|system)\//i;
const HEAD = /^(patient|user|system)\/(composition|template|aql)-/;
/** At least one of them, each at most once, in this order. */
const PERMISSIONS = /^(?=.)c?r?u?d?s?$/;

/**
 * Reads one word of a token's scope. null: it is about no record, as `openid`, `launch/patient` and `offline_access` are; `unreadable`: it
 * looks as if it were, and cannot be read, so that it grants nothing.
 */
export function readScope(word: string): SmartScope | 'unreadable' | null {
  if (!RESOURCE_SCOPE.test(word)) return null;
  const head = HEAD.exec(word);
  const dot = word.lastIndexOf('.');
  if (head === null || dot <= head[0].length) return 'unreadable';
  const permissions = word.slice(dot + 1);
  const name = readName(word.slice(head[0].length, dot));
  if (name === null || !PERMISSIONS.test(permissions)) return 'unreadable';
  const [, compartment, kind] = head as unknown as readonly [string, Compartment, ScopeKind];
  return { compartment, kind, name, permissions: new Set(permissions) as Set<ScopePermission> };
}

/** A name with wildcards; what a scope cannot hold is percent-encoded. null: it is none. */
function readName(text: string): NamePattern | null {
  const runs = text.match(/\*+/g) ?? [];
  const [first = '*'] = runs;
  // With both kinds it would not be known what the one may not stand for.
  if (first.length > 2 || runs.some((run) => run !== first)) return null;
  try {
    const texts = text.split(first).map((each) => decodeURIComponent(each));
    const pieces = texts.flatMap((each, index) => [...(index === 0 ? [] : [null]), each]);
    return { pieces: pieces.filter((piece) => piece !== ''), passesColons: first === '**' };
  } catch {
    return null;
  }
}

/** Whether a pattern is a wildcard and nothing else. */
export function isAnyName({ pieces }: NamePattern): boolean {
  return pieces.every((piece) => piece === null);
}

/** Whether a name is one that a scope is about. */
export function isNamed({ pieces, passesColons }: NamePattern, name: string): boolean {
  return isLike(name, pieces) && (passesColons || colons(name) <= colonsOf(pieces));
}

/** The same as a condition on an attribute. */
export function namedCondition(attribute: string, { pieces, passesColons }: NamePattern): Condition {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'string') return { kind: 'equals', attribute, among: [only] };
  const like: Condition = { kind: 'like', attribute, pattern: pieces };
  if (passesColons) return like;
  // Each colon that the wildcards do not stand for is one of the text.
  const tooMany: PatternPiece[] = [null];
  for (let count = 0; count <= colonsOf(pieces); count += 1) tooMany.push(':', null);
  return all([like, not({ kind: 'like', attribute, pattern: tooMany })]);
}

function colonsOf(pieces: readonly PatternPiece[]): number {
  return pieces.reduce((sum, piece) => sum + (piece === null ? 0 : colons(piece)), 0);
}

function colons(text: string): number {
  return text.split(':').length - 1;
}
