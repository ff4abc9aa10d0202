import { FIELD, NO_START, SEGMENT_FIELD } from '../../index/document.js';
import type { Stage } from '../../index/stage.js';
import {
  and,
  any,
  bind,
  call,
  equal,
  fieldRef,
  listOf,
  literal,
  literalList,
  not,
  or,
  present,
  variable,
  when,
  type Expression,
} from '../../plan/expression.js';
import { lookup, type LookupStep } from '../../plan/steps.js';
import { ANY_TAG_VALUE, CATEGORIES, tagTextPatterns } from '../../../policy/attributes.js';
import type { MarkLeaf, TagLeaf } from '../../../policy/condition.js';
import { counted } from '../../../openehr/base/work.js';
import { emit } from './emit-expression.js';

/* What is stored beside documents, joined to each: where more EHRs have a tag or a mark than could be named. docs/access.md#many-marks */

/** Fields into which tags and marks of the EHR of a document are joined. */
const JOINED_TAGS = 'permt';
const JOINED_MARKS = 'permm';

/** What a mark is joined to. */
export interface MarkedDocument {
  readonly type: 'Ehr' | 'Version';
  /** Its field that has the id of the EHR. */
  readonly ehrField: string;
  /** Of this server. */
  readonly systemId: string;
}

/** The tags of some keys that the EHR as a whole has, as policies see them. */
export function tagJoin(ehrField: string, keys: readonly string[]): LookupStep {
  const [only] = keys;
  const key = keys.length === 1 && only !== undefined ? { $eq: only } : { $in: [...keys] };
  const ofEhr = { target_type: 'EHR_STATUS', target_version: null, target_path: null };
  const join = {
    as: JOINED_TAGS,
    from: 'item_tags',
    localField: ehrField,
    foreignField: 'owner_id',
  } as const;
  return lookup(join, [{ kind: 'match', match: { key, ...ofEhr } }]);
}

/** The marks that were ever set on the EHR, which are few: a bare join is the fastest. */
export function markJoin(ehrField: string): LookupStep {
  const join = { as: JOINED_MARKS, from: 'ehr_marks', localField: ehrField, foreignField: 'ehr_id' } as const;
  return lookup(join, []);
}

/** What is asked of tags, as a match of a document with the tags joined. */
export function tagMatch(leaf: TagLeaf): Stage {
  const some = (match: Stage): Stage => ({
    [JOINED_TAGS]: { $elemMatch: { key: { $eq: leaf.key }, ...match } },
  });
  switch (leaf.kind) {
    case 'tagged':
      return some({});
    case 'emptyTag':
      return { $and: [some({}), { $nor: [some({ value: { $regex: ANY_TAG_VALUE } })] }] };
    case 'tag':
      return anyOf(
        counted(tagTextPatterns(leaf.among)).map((pattern) => some({ value: { $regex: pattern } })),
      );
  }
}

function anyOf(matches: readonly Stage[]): Stage {
  return matches.length === 0 ? { _id: { $in: [] } } : { $or: matches };
}

/** The name of a mark while marks are gone through. */
const MARK = 'm';

function said(name: string): Expression {
  return variable(MARK, name);
}

function lacks(name: string): Expression {
  return not(present(said(name)));
}

/** What a mark may be about, if not about all of the EHR. */
const PARTS = ['object_uid', 'template_id', 'category', 'origin', 'from', 'to'];

/** Whether a mark is on a document, as a match of it with the marks joined: `isOn` of `policy/marks.ts`, of those that hold for who asks. */
export function markMatch(leaf: MarkLeaf, { type, ehrField, systemId }: MarkedDocument): Stage {
  const { mark, organisation, categories = [] } = leaf;
  const isWhole = and(...counted(PARTS).map(lacks));
  const isOn = and(
    equal(said('kind'), literal(mark)),
    equal(said('open'), true),
    // While a merge moves documents a mark of the source may be lifted from the target already.
    not(call('$in', [fieldRef(ehrField), listOf(said('lifted.ehr_id'))])),
    ...(organisation === undefined
      ? []
      : [or(lacks('organisation'), equal(said('organisation'), literal(organisation)))]),
    type === 'Ehr' ? isWhole : or(isWhole, picks(systemId, categories)),
  );
  return { $expr: emit(any(fieldRef(JOINED_MARKS), MARK, isOn)) };
}

type Categories = NonNullable<MarkLeaf['categories']>;

/** Whether a mark that is not about the whole EHR picks a VERSION. `categories`: of the map. */
function picks(systemId: string, categories: Categories): Expression {
  const fits = (name: string, value: Expression): Expression => or(lacks(name), equal(said(name), value));
  const ofComposition = and(
    equal(fieldRef(FIELD.rootType), literal('COMPOSITION')),
    or(...counted(PARTS).map((name) => present(said(name)))),
    fits('template_id', fieldRef(FIELD.templateId)),
    or(
      lacks('category'),
      equal(said('category'), categoryExpression()),
      ...counted(categories).map((category) => isOf(category)),
    ),
    fits('origin', originExpression(systemId)),
    or(lacks('from'), call('$gte', [timeExpression(), said('from')])),
    or(lacks('to'), call('$lte', [timeExpression(), said('to')])),
  );
  return when(
    present(said('object_uid')),
    equal(said('object_uid'), fieldRef(FIELD.versionedObjectUid)),
    ofComposition,
  );
}

/** Whether a mark is about a category of the map, and a document of that. */
function isOf({ name, templates, archetypes }: Categories[number]): Expression {
  const ofRoots = call('$setIntersection', [listOf(fieldRef(FIELD.keys)), literalList(archetypes)]);
  return and(
    equal(said('category'), literal(name)),
    or(
      call('$in', [fieldRef(FIELD.templateId), literalList(templates)]),
      call('$gt', [call('$size', ofRoots), 0]),
    ),
  );
}

/** `body` about something in the object of the root. */
function inRoot(path: string, body: (value: Expression) => Expression): Expression {
  const root = call('$arrayElemAt', [fieldRef(`${FIELD.segments}.${SEGMENT_FIELD.object}`), 0]);
  return bind('root', root, bind('value', variable('root', path), body(variable('value'))));
}

function categoryExpression(): Expression {
  const branches = counted(Object.entries(CATEGORIES)).map(([code, word]) => ({
    case: equal(variable('value'), literal(code)),
    then: literal(word),
  }));
  return inRoot('category.defining_code.code_string', (code) => call('$switch', { branches, default: code }));
}

function originExpression(systemId: string): Expression {
  return inRoot('feeder_audit.originating_system_audit.system_id', (system) =>
    when(
      and(equal(call('$type', system), literal('string')), not(equal(system, literal('')))),
      system,
      literal(systemId),
    ),
  );
}

function timeExpression(): Expression {
  const start = fieldRef(FIELD.startTime);
  const hasStart = and(present(start), call('$lt', [start, literal(NO_START)]));
  return when(hasStart, start, fieldRef(FIELD.timeCommitted));
}
