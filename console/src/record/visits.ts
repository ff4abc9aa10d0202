import type { AuditRecord } from '@everchart/client';
import { textAt } from '../api/json.js';

/** What somebody did, in the words of people; by the beginning of the ids of operations, the first that fits. */
const DEEDS = [
  ['composition_create', 'wrote'],
  ['composition_update', 'changed'],
  ['composition_delete', 'deleted'],
  ['composition_get', 'read'],
  ['composition_preview', 'read'],
  ['versioned_composition', 'read'],
  ['ehr_status_update', 'changedStatus'],
  ['ehr_status_get', 'readStatus'],
  ['versioned_ehr_status', 'readStatus'],
  ['directory_get', 'readFolders'],
  ['directory', 'changedFolders'],
  ['contribution_create', 'wrote'],
  ['contribution_get', 'readChanges'],
  ['ehr_tags', 'readTags'],
  ['ehr_create', 'made'],
  ['ehr_access', 'audited'],
  ['ehr_extract_create', 'restored'],
  ['ehr_find', 'searched'],
  ['ehr_', 'opened'],
  ['listEhrs', 'searched'],
  ['query_execute', 'queried'],
  ['query_explain', 'explained'],
  ['query_store', 'storedQuery'],
  ['template_adl1.4_upload', 'uploaded'],
  ['archetype_adl1.4_upload', 'uploaded'],
  ['compareTemplate', 'planned'],
  ['listTemplateRevisions', 'readRevisions'],
  ['listTemplateComparisons', 'readRevisions'],
  ['getTemplateComparison', 'readRevisions'],
  ['cancelTemplateComparison', 'planned'],
  ['resumeTemplateComparison', 'planned'],
  ['listTemplateUpgrades', 'readRevisions'],
  ['getTemplateUpgrade', 'readRevisions'],
  ['removeTemplateRevision', 'removedRevision'],
  ['upgradeTemplate', 'upgraded'],
  ['pauseTemplateUpgrade', 'upgraded'],
  ['resumeTemplateUpgrade', 'upgraded'],
  ['undoTemplateUpgrade', 'upgraded'],
  ['updateTemplate', 'replacedTemplate'],
  ['deleteTemplate', 'deletedTemplate'],
  ['deleteAllTemplates', 'deletedTemplate'],
  ['deleteStoredQuery', 'deletedQuery'],
  ['giveQueryNameSpace', 'gaveNameSpace'],
  ['draft_save', 'typed'],
  ['draft_delete', 'discarded'],
  ['draft', 'readDrafts'],
  ['favourite_list', 'readFavourites'],
  ['favourite', 'favoured'],
  ['marks_get', 'readMarks'],
  ['marks_put', 'marked'],
  ['emergency_access', 'brokeGlass'],
  ['dashboard', 'arranged'],
  ['print', 'printed'],
  ['overview', 'overview'],
  ['mergeEhrs', 'merged'],
  ['confirmMerge', 'merged'],
  ['unmerge', 'unmerged'],
  ['withdraw', 'withdrew'],
  ['confirmApproval', 'confirmed'],
  ['finaliseMerge', 'finalised'],
  ['moveComposition', 'moved'],
  ['deleteEhr', 'erased'],
  ['admin_ehr_delete', 'erased'],
  ['deleteComposition', 'erasedDocument'],
  ['deleteDirectory', 'erasedDocument'],
  ['sayDistinct', 'toldApart'],
  ['takeBackDistinct', 'toldApart'],
  ['getMerge', 'readMerges'],
  ['listApprovals', 'readMerges'],
  ['listDistinct', 'readMerges'],
  ['getAudit', 'audited'],
  ['getEhrAccess', 'audited'],
  ['getPermissions', 'readUsers'],
  ['getStatus', 'readServer'],
  ['getStatistics', 'readServer'],
  ['getSeal', 'readServer'],
  ['management_logger_set', 'setLog'],
  ['verify', 'verified'],
  ['saveUser', 'savedUser'],
  ['removeUser', 'removedUser'],
  ['restore', 'restored'],
  ['addExtract', 'restored'],
  ['undoExtract', 'restoredBack'],
  ['putPolicy', 'changedPolicy'],
  ['removePolicy', 'changedPolicy'],
  ['listPolic', 'readPolicies'],
  ['getPolicy', 'readPolicies'],
  ['validatePolicy', 'readPolicies'],
  ['decideAccess', 'readPolicies'],
  ['comparePolicies', 'readPolicies'],
  ['listObserved', 'readPolicies'],
  ['putCategories', 'changedPolicy'],
  ['getCategories', 'readPolicies'],
  ['listCategoryVersions', 'readPolicies'],
] as const;

/** A word for what somebody did. */
type Deed = (typeof DEEDS)[number][1] | 'tagged';

/** Requests of one person about one record within a short time. */
export interface Visit {
  readonly user: string;
  /** Empty: about no record. */
  readonly ehrId: string;
  readonly address: string;
  /** Time of the first and the last, as they are recorded. */
  readonly from: string;
  readonly to: string;
  /** What was done, by word or, where there is none, by operation; most often first. */
  readonly deeds: readonly {
    readonly deed: Deed | null;
    readonly operation: string;
    readonly count: number;
  }[];
  /** Requests that were refused. */
  readonly refused: number;
  /** Newest first. */
  readonly records: readonly AuditRecord[];
}

/** What somebody does within this time is one visit. Milliseconds. */
const PAUSE_MS = 10 * 60_000;

/** The word for what a record is about; null: there is none, and the operation says it. */
export function deedOf(record: AuditRecord): Deed | null {
  const { operation } = record;
  if (/_tag_|_tags_/.test(operation) && !operation.startsWith('ehr_tags'))
    return operation.endsWith('_get') ? 'readTags' : 'tagged';
  if (record['dry_run'] === true) return 'planned';
  return DEEDS.find(([beginning]) => operation.startsWith(beginning))?.[1] ?? null;
}

/** Records, newest first, as visits: nobody reads four lines for one page that was looked at. */
export function visitsOf(records: readonly AuditRecord[]): Visit[] {
  const open = new Map<string, AuditRecord[]>();
  const visits: AuditRecord[][] = [];
  for (const record of records) {
    const who = [record.user, textAt(record, 'sub'), textAt(record, 'address'), textAt(record, 'ehr_id')];
    const key = JSON.stringify(who);
    const visit = open.get(key);
    const last = visit?.at(-1);
    if (
      visit !== undefined &&
      last !== undefined &&
      Date.parse(last.time) - Date.parse(record.time) <= PAUSE_MS
    )
      visit.push(record);
    else {
      const begun = [record];
      open.set(key, begun);
      visits.push(begun);
    }
  }
  return visits.map(visitOf);
}

function visitOf(records: readonly AuditRecord[]): Visit {
  const counts = new Map<string, Visit['deeds'][number]>();
  for (const record of records) {
    const deed = deedOf(record);
    const name = deed ?? record.operation;
    const count = (counts.get(name)?.count ?? 0) + 1;
    counts.set(name, { deed, operation: record.operation, count });
  }
  const [newest] = records;
  return {
    user: newest?.user ?? '',
    ehrId: textAt(newest, 'ehr_id'),
    address: textAt(newest, 'address'),
    from: records.at(-1)?.time ?? '',
    to: newest?.time ?? '',
    deeds: [...counts.values()].sort((left, right) => right.count - left.count),
    refused: records.filter(({ status }) => status >= 400).length,
    records,
  };
}
