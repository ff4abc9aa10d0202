import type { MergeDetails, MergeResolutions } from '@everchart/client';
import { asText, at, items, textAt } from '../../../api/json.js';
import type { Json } from '../../../api/types.js';
import { elementsIn } from '../../../record/patient.js';
import { PLAIN_READER } from '../../../record/values/plain-reader.js';
import { wholeText } from '../../../record/values/value-reader.js';
import { valueText } from '../../../record/values/value-text.js';

/** Of two EHRs that are merged. */
export type Side = 'source' | 'target';
/** What becomes of a pair. */
export type PairChoice = Side | 'both';

/** One of two compositions that could be joined. */
interface PairVersion {
  readonly side: Side;
  readonly uid: string;
  readonly time: string;
  /** Code of the lifecycle state: 553 is incomplete. */
  readonly lifecycle: string;
}

/** Two persistent compositions of one template. */
export interface PlannedPair {
  readonly templateId: string;
  readonly choice: PairChoice;
  readonly reason: string;
  readonly versions: readonly PairVersion[];
}

/** An attribute that the two EHR_STATUS say differently. */
export interface PlannedField {
  readonly field: string;
  readonly source: string;
  readonly target: string;
  readonly survivor: Side;
}

/** A plan of a merge as far as it is shown. docs/spec/merge.md#plan */
export interface ShownPlan {
  readonly digest: string;
  /** Compositions that move without being joined. */
  readonly moved: number;
  readonly joined: number;
  readonly contributions: number;
  readonly movedTags: number;
  readonly pairs: readonly PlannedPair[];
  readonly notPaired: readonly {
    readonly templateId: string;
    readonly source: number;
    readonly target: number;
  }[];
  readonly fields: readonly PlannedField[];
  readonly folders: string;
  readonly deletedTags: number;
  readonly documents: number;
  readonly seconds: number;
  readonly inSteps: boolean;
}

/** Reads the plan of a dry run; null where there is none. */
export function shownPlan(details: MergeDetails): ShownPlan | null {
  const { plan } = details;
  if (plan === undefined) return null;
  const pairs = items(plan.pairs).map(pairOf);
  return {
    digest: plan.digest,
    moved: Number(at(plan.compositions, 'moved') ?? 0),
    joined: pairs.filter(({ choice }) => choice !== 'both').length,
    contributions: Number(at(plan.contributions, 'moved') ?? 0),
    movedTags: Number(at(plan.item_tags, 'moved') ?? 0),
    pairs,
    notPaired: items(plan.not_paired).map((each) => ({
      templateId: textAt(each, 'template_id'),
      source: Number(at(each, 'source')),
      target: Number(at(each, 'target')),
    })),
    fields: items(plan.ehr_status).map((each) => ({
      field: textAt(each, 'field'),
      source: statusText(at(each, 'source')),
      target: statusText(at(each, 'target')),
      survivor: sideOf(at(each, 'survivor')),
    })),
    folders: textAt(plan.folders, 'action'),
    deletedTags: Number(at(plan.item_tags, 'deleted') ?? 0),
    documents: Number(at(plan.size, 'documents') ?? 0),
    seconds: Number(at(plan.size, 'expected_seconds') ?? 0),
    inSteps: details.way === 'steps',
  };
}

/** The source holds nothing that would move or be joined: perhaps source and target are confused. */
export function isEmpty({ moved, joined, folders }: ShownPlan): boolean {
  return moved === 0 && joined === 0 && !['append', 'create'].includes(folders);
}

function pairOf(pair: Json): PlannedPair {
  const choice = textAt(pair, 'choice');
  const version = (name: string): PairVersion[] => {
    const found = at(pair, name);
    if (found === undefined) return [];
    const [time, lifecycle] = [textAt(found, 'time_committed'), textAt(found, 'lifecycle_state')];
    return [{ side: sideOf(at(found, 'side')), uid: textAt(found, 'version_uid'), time, lifecycle }];
  };
  return {
    templateId: textAt(pair, 'template_id'),
    choice: choice === 'both' ? 'both' : sideOf(choice),
    reason: textAt(pair, 'reason'),
    versions: ['winner', 'loser', 'source', 'target']
      .flatMap(version)
      .sort((left, right) => (left.side < right.side ? -1 : 1)),
  };
}

function sideOf(value: unknown): Side {
  return value === 'source' ? 'source' : 'target';
}

function statusText(value: Json | undefined): string {
  const subject = textAt(value, 'external_ref', 'id', 'value');
  if (subject !== '') return `${subject} · ${textAt(value, 'external_ref', 'namespace')}`;
  if (textAt(value, '_type') === 'PARTY_SELF') return '–';
  if (typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return '–';
  // What a patient is called is read by people; what has no words for it stays as it is stored.
  const said = elementsIn(value).map(
    (element) =>
      `${textAt(element, 'name', 'value')}: ${wholeText(valueText(element['value'], PLAIN_READER))}`,
  );
  return said.length > 0 ? said.join(', ') : asText(value) || JSON.stringify(value);
}

/** The choices with one more. */
export function withPair(
  { ehr_status, compositions }: MergeResolutions,
  templateId: string,
  choice: PairChoice,
): MergeResolutions {
  return { ehr_status, compositions: { ...compositions, [templateId]: choice } };
}

/** The choices with one more. */
export function withField(
  { ehr_status, compositions }: MergeResolutions,
  field: string,
  side: Side,
): MergeResolutions {
  return { compositions, ehr_status: { ...ehr_status, [field]: side } };
}

/** The choices as a request has them: what is empty is left out. */
export function sentResolutions({
  compositions,
  ehr_status,
}: MergeResolutions): MergeResolutions | undefined {
  const filled = {
    ...(Object.keys(compositions ?? {}).length > 0 && { compositions }),
    ...(Object.keys(ehr_status ?? {}).length > 0 && { ehr_status }),
  };
  return Object.keys(filled).length > 0 ? filled : undefined;
}
