import { FIELD } from '../../index/document.js';
import { ownersByTarget, ownersOf, type MovingMerges } from '../../index/moved-owners.js';
import type { Stage } from '../../index/stage.js';
import { counted } from '../../../openehr/base/work.js';
import { call, equal, fieldRef, literal, literalList, withFields } from '../expression.js';
import type { Expression } from '../expression.js';
import type { LogicalPlan, PassContext } from '../logical-plan.js';
import type { DocumentsStep, FilterStep, LookupStep, MatchStep, SourceCollection, Step } from '../steps.js';

/**
 * Beside merges in steps: while documents of a source still name it as their owner, they are taken for the target's. The
 * last pass, so that plans are the same beside merges but for this. docs/spec/merge.md#in-steps
 */
export function moveOwners(plan: LogicalPlan, { merges }: PassContext): LogicalPlan {
  if (merges.targets.size === 0) return plan;
  const { collection, steps, probe } = plan;
  return {
    ...plan,
    steps: moved(collection, steps, merges),
    probe: probe === null ? null : { ...probe, steps: moved(collection, probe.steps, merges) },
  };
}

/** What finds documents goes by what they name, all that follows by whose they are. */
function moved(collection: SourceCollection, steps: readonly Step[], merges: MovingMerges): Step[] {
  const other = counted(steps).findIndex((each) => !isFinding(each));
  const start = other === -1 ? steps.length : other;
  const finding = steps.slice(0, start);
  const rest = counted(steps.slice(start)).flatMap((each) =>
    each.kind === 'lookup' ? movedJoin(each, merges) : [each],
  );
  if (collection !== 'aql') return [...finding, ...rest];
  const owner: Step = { kind: 'set', field: FIELD.ehrId, value: targetExpression(merges) };
  const found = counted(finding)
    .filter(isFinding)
    .map((each) => movedFinding(each, merges));
  return [...found, owner, ...rest];
}

type Finding = DocumentsStep | MatchStep | FilterStep;

function isFinding(step: Step): step is Finding {
  return step.kind === 'documents' || step.kind === 'match' || step.kind === 'filter';
}

function movedFinding(step: Finding, merges: MovingMerges): Step {
  if (step.kind === 'match') return step;
  if (step.kind === 'filter')
    return {
      ...step,
      condition: withFields(step.condition, new Map([[FIELD.ehrId, targetExpression(merges)]])),
    };
  const owned = movedOwnerMatch(step.owner, merges);
  return owned === null ? step : { ...step, owner: 'joined', conditions: [owned, ...step.conditions] };
}

/** A native match of documents by their owner, or by what it decides; null where that is as without merges. */
function movedOwnerMatch(owner: DocumentsStep['owner'], merges: MovingMerges): Stage | null {
  if (owner === 'joined') return null;
  return owner === 'queryable'
    ? queryableMatch(merges)
    : { [FIELD.ehrId]: { $in: ownersOf(owner.ehrId, merges) } };
}

/** What a document says of a source's EHR does not hold while it is the target's. */
function queryableMatch({ queryable }: MovingMerges): Stage | null {
  if (queryable.size === 0) return null;
  const sources = [...queryable];
  const others = {
    [FIELD.isQueryable]: true,
    [FIELD.ehrId]: { $nin: counted(sources).map(([source]) => source) },
  };
  const found = counted(sources)
    .filter(([, isQueryable]) => isQueryable)
    .map(([source]) => source);
  return found.length === 0 ? others : { $or: [others, { [FIELD.ehrId]: { $in: found } }] };
}

/** Fields by which documents of an EHR are joined. */
const OWNER_FIELD: Readonly<Partial<Record<SourceCollection, string>>> = {
  aql: FIELD.ehrId,
  contributions: 'ehr_id',
  ehr_marks: 'ehr_id',
  item_tags: 'owner_id',
  versions: 'ehr_id',
  versioned_objects: 'ehr_id',
};

/** By all ids that documents of the EHR may name; what is joined belongs to the target. */
function movedJoin(join: LookupStep, merges: MovingMerges): Step[] {
  const { as, from, localField, foreignField, ofFolders } = join;
  const found = { ...join, steps: moved(from, join.steps, merges) };
  // What a merge ends keeps its container, with the source.
  if (localField === null || foreignField !== OWNER_FIELD[from] || ofFolders) return [found];
  const owners = `owners_${as}`.replaceAll('.', '_');
  return [
    { kind: 'set', field: owners, value: ownersIn(localField, merges) },
    { ...found, localField: owners },
  ];
}

/** The EHR that a document belongs to. */
function targetExpression({ targets }: MovingMerges): Expression {
  const owner = fieldRef(FIELD.ehrId);
  const branches = counted([...targets]).map(([source, target]) => ({
    case: equal(owner, literal(source)),
    then: literal(target),
  }));
  return call('$switch', { branches, default: owner });
}

function ownersIn(field: string, merges: MovingMerges): Expression {
  const branches = counted([...ownersByTarget(merges)]).map(([target, owners]) => ({
    case: equal(fieldRef(field), literal(target)),
    then: literalList(owners),
  }));
  return call('$switch', { branches, default: fieldRef(field) });
}
