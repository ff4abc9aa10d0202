import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { AuditDraft, inAuditedTransaction, withAuditDraft } from '../../change/commit/audit-draft.js';
import { mindingRestrictions } from '../../change/mark/restriction.js';
import { RESTORE } from '../../models/cross-collection/audited-removals.js';
import { insertAudit, MAX_AUDIT_IDS } from '../../models/audit.js';
import { inSteps } from '../../models/access/in-steps.js';
import { undoneMergeIn } from '../../models/cross-collection/interchange.js';
import { failed, type LineOutcome, type PlacedLine, type RestoreTarget } from './import.js';
import type { InterchangeLine } from './line.js';
import type { EhrPart, RestoreHow } from './part.js';
import { restoreAudit } from './restore-audit.js';
import { restoreDefinition, type DefinitionLine } from './restore-definition.js';
import { EhrRestore, isRefusal } from './restore.js';

/** EHRs that an import remembers to have named, so that none is named twice; of more one may be. */
const REMEMBERED_EHRS = 100_000;

/**
 * Notes in the audit that an import restores something: before it does, for the notes of the seals name it. Gives what names the EHRs of
 * which it does, each in a further part of the record with a time of its own: an import may last for days.
 */
export async function beginRestore(
  batch: string,
  user = 'everchart',
): Promise<NonNullable<RestoreTarget['names']>> {
  const sender = { user, operation: RESTORE, request_id: randomUUID() };
  const draft = (): AuditDraft => new AuditDraft(() => sender, 200);
  await withAuditDraft(draft(), () => noteRestore(batch, []));
  const remembered = new Set<string>();
  let part = 1;
  return async (ehrIds) => {
    const fresh = ehrIds.filter((ehrId) => !remembered.has(ehrId));
    for (const some of inSteps(fresh, MAX_AUDIT_IDS)) {
      part += 1;
      await insertAudit({ ...draft().record(200, { target: batch, ehr_ids: some }), part });
    }
    if (remembered.size + fresh.length > REMEMBERED_EHRS) remembered.clear();
    for (const ehrId of fresh) remembered.add(ehrId);
  };
}

/** The same for a request of its own record. `ehrIds`: EHRs that it restores something of. */
export async function noteRestore(batch: string, ehrIds: readonly string[]): Promise<void> {
  const subject = { target: batch, ...(ehrIds.length > 0 && { ehr_ids: ehrIds, ehr_count: ehrIds.length }) };
  await inAuditedTransaction(
    () => Promise.resolve(),
    () => subject,
  );
}

/** Of more all would be prepared first, and then wait for the database together; of fewer this process would wait for it. */
const AT_ONCE = 4;

/** Writes to the database of this process. `names`: as `beginRestore` gives it, where no request names them. */
export function restoringHere(how: RestoreHow, names?: RestoreTarget['names']): RestoreTarget {
  const ehrs = new EhrRestore(how);
  const definition = (placed: PlacedLine): Promise<LineOutcome> => definitionOutcome(how, placed);
  return {
    atOnce: AT_ONCE,
    ...(names !== undefined && { names }),
    async definitions(lines) {
      const records = lines.flatMap(({ position, line }) =>
        line.kind === 'audit' ? { position, record: line.record } : [],
      );
      const others = lines.filter(({ line }) => line.kind !== 'audit');
      return [...(await oneByOne(others, definition)), ...(await restoreAudit(how.batch, records))];
    },
    async parts(parts) {
      const done = await mindingRestrictions(how.accessMode ?? '', () =>
        ehrs.restore(parts.map(({ ehrId, lines }) => partOf(ehrId, lines))),
      );
      const outcomes: LineOutcome[] = [];
      for (const [place, { lines }] of parts.entries()) {
        const outcome = done[place] ?? new Set<object>();
        if (outcome instanceof CdrError) outcomes.push(...lines.map((one) => failed(one, outcome)));
        else outcomes.push(...(await oneByOne(lines, (placed) => written(placed, outcome, definition))));
      }
      return outcomes;
    },
  };
}

/** What became of a line of a part that is written; documents go behind it. */
async function written(
  placed: PlacedLine,
  there: ReadonlySet<object>,
  definition: (placed: PlacedLine) => Promise<LineOutcome>,
): Promise<LineOutcome> {
  const { line, position } = placed;
  if (line.kind === 'document') return definition(placed);
  return { position, result: there.has(memberOf(line)) ? 'unchanged' : 'imported' };
}

async function definitionOutcome(how: RestoreHow, placed: PlacedLine): Promise<LineOutcome> {
  const { line, position } = placed;
  if (!isDefinition(line)) return { position, result: 'unchanged' };
  try {
    return { position, result: await restoreDefinition(how, line) };
  } catch (error) {
    if (isRefusal(error)) return failed(placed, error);
    throw error;
  }
}

async function oneByOne(
  lines: readonly PlacedLine[],
  work: (placed: PlacedLine) => Promise<LineOutcome>,
): Promise<LineOutcome[]> {
  const outcomes: LineOutcome[] = [];
  for (const placed of lines) outcomes.push(await work(placed));
  return outcomes;
}

function isDefinition(line: InterchangeLine): line is DefinitionLine {
  return line.kind === 'template' || line.kind === 'stored_query' || line.kind === 'document';
}

/** What of a line a part holds. */
function memberOf(line: InterchangeLine): object {
  switch (line.kind) {
    case 'ehr':
      return line.ehr;
    case 'contribution':
      return line.contribution;
    case 'version':
      return line.version;
    case 'item_tag':
      return line.tag;
    case 'item_tags':
      return line.set;
    default:
      return line;
  }
}

function partOf(ehrId: string, lines: readonly PlacedLine[]): EhrPart {
  const read = lines.map(({ line }) => line);
  return {
    ehrId,
    ehr: read.flatMap((line) => (line.kind === 'ehr' ? line.ehr : []))[0] ?? null,
    tombstones: read.flatMap((line) => (line.kind === 'tombstone' ? line : [])),
    contributions: read.flatMap((line) => (line.kind === 'contribution' ? line.contribution : [])),
    versions: read.flatMap((line) => (line.kind === 'version' ? line.version : [])),
    tags: read.flatMap((line) => (line.kind === 'item_tag' ? line.tag : [])),
    tagSets: read.flatMap((line) => (line.kind === 'item_tags' ? line.set : [])),
    undoneMerges: read.flatMap((line) => (line.kind === 'document' ? (undoneMergeIn(line) ?? []) : [])),
  };
}
