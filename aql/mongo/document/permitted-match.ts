import { FIELD, NO_START } from '../../index/document.js';
import type { MongoValue, Stage } from '../../index/stage.js';
import { CATEGORIES, isSeenArchetype } from '../../../policy/attributes.js';
import { isBeside, isLike, piecesOf, type Condition, type Leaf } from '../../../policy/condition.js';
import { counted } from '../../../openehr/base/work.js';
import { markMatch, tagMatch, type MarkedDocument } from './beside-match.js';

/** Field of a query index document into which its VERSION is joined, where policies ask for the committer. */
export const JOINED_VERSION = 'permv';

/** A match that finds nothing. */
const NOTHING: Stage = { _id: { $in: [] } };
/** The object of the root, in the first segment. */
const ROOT = `${FIELD.segments}.0.o`;

/** Matches by which policies are asked of documents. */
interface Matches {
  readonly leaf: (leaf: Leaf) => Stage;
}

/** What a match of query index documents depends on beside the condition. */
export interface MatchContext {
  /** Of this server. */
  readonly systemId: string;
  /** Merges in steps under way: by the EHR that a document names the one whose it is. */
  readonly targets: ReadonlyMap<string, string>;
  /** Whether every document names its committer. */
  readonly hasCommitters: boolean;
}

/** What policies say of a VERSION, as a match of its query index document. */
export function versionMatch(condition: Condition, context: MatchContext): Stage {
  return matchOf(condition, { leaf: (leaf) => versionLeaf(leaf, context) });
}

/** What policies say of an EHR, as a match of its document. */
export function ehrMatch(condition: Condition, systemId: string): Stage {
  return matchOf(condition, { leaf: (leaf) => ehrLeaf(leaf, systemId) });
}

/** What policies say of an EHR as a match of its query index documents; null where they ask for more than its id. */
export function ehrIdMatch(condition: Condition, context: MatchContext): Stage | null {
  return asksIdOnly(condition) ? matchOf(condition, { leaf: (leaf) => idLeaf(leaf, context) }) : null;
}

/** Whether policies ask for who committed a VERSION. */
export function asksCommitter(condition: Condition): boolean {
  return counted(leavesOf(condition)).some((leaf) => 'attribute' in leaf && leaf.attribute === 'committer');
}

/** Keys of the tags that policies ask each document for. */
export function tagKeys(condition: Condition): readonly string[] {
  return counted(leavesOf(condition)).flatMap((leaf) => ('key' in leaf ? [leaf.key] : []));
}

/** Whether policies ask each document for marks. */
export function asksMarks(condition: Condition): boolean {
  return counted(leavesOf(condition)).some(({ kind }) => kind === 'marked');
}

function leavesOf(condition: Condition): readonly Leaf[] {
  switch (condition.kind) {
    case 'constant':
      return [];
    case 'all':
    case 'any':
      return counted(condition.of).flatMap((each) => leavesOf(each));
    case 'not':
      return leavesOf(condition.of);
    default:
      return [condition];
  }
}

function matchOf(condition: Condition, matches: Matches): Stage {
  switch (condition.kind) {
    case 'constant':
      return condition.value ? {} : NOTHING;
    case 'all':
      return { $and: counted(condition.of).map((each) => matchOf(each, matches)) };
    case 'any':
      return { $or: counted(condition.of).map((each) => matchOf(each, matches)) };
    case 'not':
      return { $nor: [matchOf(condition.of, matches)] };
    default:
      return matches.leaf(condition);
  }
}

type OfAttribute = Extract<Leaf, { readonly attribute: string }>;

/** @throws TypeError for the attribute `marks`: which marks those are was asked before */
function leafOfObject(
  leaf: Leaf,
  document: MarkedDocument,
  ofAttribute: (leaf: OfAttribute) => Stage,
): Stage {
  if (leaf.kind === 'uid') return { _id: { $in: leaf.among } };
  if (leaf.kind === 'object') return { [FIELD.versionedObjectUid]: { $in: leaf.among } };
  if ('key' in leaf) return tagMatch(leaf);
  if (leaf.kind === 'marked') return markMatch(leaf, document);
  if (!('attribute' in leaf)) return NOTHING;
  if (leaf.attribute === 'marks') throw new TypeError('marks are asked of EHRs before a query is made');
  return ofAttribute(leaf);
}

function ehrLeaf(leaf: Leaf, systemId: string): Stage {
  if (leaf.kind === 'object') return NOTHING;
  return leafOfObject(leaf, { type: 'Ehr', ehrField: '_id', systemId }, (each) => {
    if (each.attribute === 'ehr_id') return textMatch(each, '_id');
    return each.attribute === 'namespace' ? textMatch(each, 'subject.namespace') : NOTHING;
  });
}

function asksIdOnly(condition: Condition): boolean {
  return counted(leavesOf(condition)).every(
    (leaf) =>
      leaf.kind === 'uid' ||
      leaf.kind === 'object' ||
      isBeside(leaf) ||
      ('attribute' in leaf && leaf.attribute === 'ehr_id'),
  );
}

function idLeaf(leaf: Leaf, context: MatchContext): Stage {
  if (leaf.kind === 'object') return NOTHING;
  if (leaf.kind === 'uid')
    return ownerMatch({ kind: 'equals', attribute: 'ehr_id', among: leaf.among }, context);
  const document = { type: 'Ehr', ehrField: FIELD.ehrId, systemId: context.systemId } as const;
  return leafOfObject(leaf, document, (each) => ownerMatch(each, context));
}

/** By the EHR that a document belongs to, which while merges move it is not the one that it names. */
function ownerMatch(leaf: OfAttribute, { targets }: MatchContext): Stage {
  const named = textMatch(leaf, FIELD.ehrId);
  if (targets.size === 0) return named;
  const moving = [...targets];
  const others: Stage = {
    $and: [{ [FIELD.ehrId]: { $nin: counted(moving).map(([source]) => source) } }, named],
  };
  const moved = counted(moving)
    .filter(([, target]) => textFits(leaf, target))
    .map(([source]) => source);
  return { $or: [others, { [FIELD.ehrId]: { $in: moved } }] };
}

/** Fields of a query index document that hold an attribute as it is. */
const FIELDS: Readonly<Record<string, string>> = {
  kind: FIELD.rootType,
  template_id: FIELD.templateId,
  lifecycle_state: FIELD.lifecycleState,
};

function versionLeaf(leaf: Leaf, context: MatchContext): Stage {
  const document = { type: 'Version', ehrField: FIELD.ehrId, systemId: context.systemId } as const;
  return leafOfObject(leaf, document, (each) => {
    const { attribute } = each;
    const field = FIELDS[attribute];
    if (field !== undefined) return textMatch(each, field);
    switch (attribute) {
      case 'ehr_id':
        return ownerMatch(each, context);
      case 'archetypes':
        return archetypeMatch(each);
      case 'category':
        return categoryMatch(each);
      case 'origin':
        return originMatch(each, context.systemId);
      case 'composer':
        return partyMatch(each, `${ROOT}.composer`);
      case 'committer':
        return context.hasCommitters
          ? textMatch(each, FIELD.committer)
          : partyMatch(each, `${JOINED_VERSION}.commit_audit.committer`);
      case 'start_time':
        return { $and: [{ [FIELD.startTime]: { $lt: NO_START } }, timeMatch(each, FIELD.startTime)] };
      case 'time_committed':
        return timeMatch(each, FIELD.timeCommitted);
      default:
        return NOTHING;
    }
  });
}

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

/** Each piece is looked for once, behind the one before: an atomic group never tries another place. */
function patternOf(pattern: Extract<Leaf, { kind: 'like' }>['pattern']): string {
  const [first = '', ...rest] = counted(piecesOf(pattern)).map((piece) =>
    piece.replaceAll(SPECIAL, '\\$&').replaceAll('\0', '\\x00'),
  );
  const last = rest.pop();
  const between = counted(rest).map((piece) => `(?>.*?${piece})`);
  return `\\A${first}${between.join('')}${last === undefined ? '' : `.*${last}`}\\z`;
}

function textMatch(leaf: OfAttribute, field: string): Stage {
  switch (leaf.kind) {
    case 'has':
      return { [field]: { $type: 'string' } };
    case 'equals':
      return { [field]: { $in: leaf.among } };
    case 'like':
      return { [field]: { $regex: patternOf(leaf.pattern), $options: 's' } };
    default:
      return NOTHING;
  }
}

function textFits(leaf: OfAttribute, value: string): boolean {
  switch (leaf.kind) {
    case 'has':
      return true;
    case 'equals':
      return leaf.among.includes(value);
    case 'like':
      return isLike(value, leaf.pattern);
    default:
      return false;
  }
}

const COMPARATORS = { '<': '$lt', '<=': '$lte', '>': '$gt', '>=': '$gte' } as const;

function timeMatch(leaf: OfAttribute, field: string): Stage {
  switch (leaf.kind) {
    case 'has':
      return { [field]: { $type: 'date' } };
    case 'equals':
      return { [field]: { $in: counted(leaf.among).map((each) => new Date(each)) } };
    case 'compare':
      return { [field]: { [COMPARATORS[leaf.comparator]]: new Date(leaf.time) } };
    default:
      return NOTHING;
  }
}

function archetypeMatch(leaf: OfAttribute): Stage {
  if (leaf.kind === 'has') return {};
  if (leaf.kind === 'contains') return { [FIELD.keys]: { $in: counted(leaf.among).filter(isSeenArchetype) } };
  if (leaf.kind !== 'empty') return NOTHING;
  return { $nor: [{ [FIELD.keys]: { $regex: ANY_ARCHETYPE } }] };
}

const ANY_ARCHETYPE =
  '^openEHR-[A-Z]+-(?:COMPOSITION|EHR_STATUS|FOLDER|OBSERVATION|EVALUATION|INSTRUCTION|ACTION|ADMIN_ENTRY|GENERIC_ENTRY)\\.';

/** The words of codes are asked here, other codes there. */
function categoryMatch(leaf: OfAttribute): Stage {
  const field = `${ROOT}.category.defining_code.code_string`;
  const words = Object.entries(CATEGORIES);
  const fitting = counted(words)
    .filter(([, word]) => textFits(leaf, word))
    .map(([code]) => code);
  const other: Stage = {
    $and: [{ [field]: { $nin: counted(words).map(([code]) => code) } }, textMatch(leaf, field)],
  };
  return { $or: [{ [field]: { $in: fitting } }, other] };
}

const IS_TEXT: MongoValue = { $type: 'string', $ne: '' };

function originMatch(leaf: OfAttribute, systemId: string): Stage {
  const field = `${ROOT}.feeder_audit.originating_system_audit.system_id`;
  const named: Stage = { $and: [{ [field]: IS_TEXT }, textMatch(leaf, field)] };
  const own: Stage = { $nor: [{ [field]: IS_TEXT }] };
  return textFits(leaf, systemId) ? { $or: [named, own] } : named;
}

/** The external reference says who a party is, else the first identifier, else the name. */
function partyMatch(leaf: OfAttribute, party: string): Stage {
  const fields = [`${party}.external_ref.id.value`, `${party}.identifiers.0.id`, `${party}.name`];
  const cases = counted(fields).map((field, index) => {
    const before = counted(fields.slice(0, index)).map((each): Stage => ({ $nor: [{ [each]: IS_TEXT }] }));
    return { $and: [...before, { [field]: IS_TEXT }, textMatch(leaf, field)] };
  });
  return { $or: cases };
}
