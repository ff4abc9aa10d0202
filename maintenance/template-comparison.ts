import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import { inTransaction } from '../database/transaction.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import type { ChangeSettings } from '../change/commit/context.js';
import { revisionNotFound, templateNotFound } from '../change/commit/refusal.js';
import { withLease } from '../models/access/lease.js';
import { asNextRevision, revisionInUse, revisionOf } from '../models/definition/revision-in-use.js';
import { templateById, type TemplateDoc, type TemplateInUse } from '../models/definition/template.js';
import { revisionDigest } from '../models/definition/template-revision.js';
import {
  changeComparison,
  comparisonById,
  comparisonsOf,
  forgetJudged,
  insertComparison,
  noteJudged,
  NOTHING_JUDGED,
  type ComparedData,
  type TemplateComparisonDoc,
} from '../models/template-comparison.js';
import { JOB_LEASE_MS, inBackground } from './in-background.js';
import { addJudged } from './template-causes.js';
import { asItIs } from './template-judge.js';
import { belongingTo } from './template-plan.js';
import { sampleTemplate } from './template-sample.js';
import { latestOf, walkTemplate, type WalkStep } from './template-walk.js';

/** Between two steps, ms: whoever waits for the database comes first. */
const PAUSE_MS = 10;

/** What stored data are compared with. */
export interface ComparisonRequest {
  readonly templateId: string;
  readonly data: ComparedData;
  /** Number or digest of the revision whose data are judged; null: all data of the template. */
  readonly from: string | null;
  /** Number or digest of the revision by which they are judged; null: the newest. Not asked for where there is an `opt`. */
  readonly to: string | null;
  /** The text of a template by which they are judged, as if it were the next revision; null: a revision. */
  readonly opt: string | null;
}

/**
 * Begins to judge stored COMPOSITIONs by another revision, or by a template that is not stored; `launchComparison` does the work.
 * @throws not-found; conflict when another comparison of the template is not done
 */
export async function beginComparison(
  { templateId, data, from, to, opt }: ComparisonRequest,
  startedBy: string,
): Promise<TemplateComparisonDoc> {
  const stored = await templateById(templateId);
  if (stored === null) throw templateNotFound(templateId, 'not-found');
  const before = from === null ? null : await requiredRevision(stored, from);
  const doc: TemplateComparisonDoc = {
    _id: randomUUID(),
    template_id: stored._id,
    data,
    ...(before !== null && { from: before.digest, from_name: before.name }),
    ...(await judgeOf(stored, to, opt)),
    state: 'running',
    started_at: new Date(),
    started_by: startedBy,
    ...NOTHING_JUDGED,
  };
  await inAuditedTransaction(
    async () => {
      const open = (await comparisonsOf(stored._id)).find(({ state }) => state === 'running');
      if (open !== undefined)
        throw new CdrError('conflict', `the comparison ${open._id} of the template is not done`);
      await insertComparison(doc);
    },
    () => ({ objects: [doc._id] }),
  );
  return doc;
}

/** Number and digest of a revision. @throws not-found */
async function requiredRevision(
  stored: TemplateDoc,
  revision: string | null,
): Promise<{ readonly name: string; readonly digest: string }> {
  const found = await revisionOf(stored, revision);
  if (found === null) throw revisionNotFound(stored._id, revision ?? '');
  return found;
}

/** What judges: a revision, which a text may be as well, or a text of its own. @throws not-found */
async function judgeOf(
  stored: TemplateDoc,
  to: string | null,
  opt: string | null,
): Promise<Pick<TemplateComparisonDoc, 'to' | 'to_name' | 'opt'>> {
  const found = opt === null ? null : await revisionOf(stored, revisionDigest(opt));
  if (opt !== null && found === null) return { to: revisionDigest(opt), opt };
  const { digest, name } = found ?? (await requiredRevision(stored, to));
  return { to: digest, to_name: name };
}

/** Ends a comparison behind the step that it is at; what it found stays. @throws conflict when it is done */
export async function cancelComparison(id: string): Promise<void> {
  const change = { state: 'cancelled', finished_at: new Date() } as const;
  if (!(await changeComparison(id, ['running', 'stopped'], change)))
    throw new CdrError('conflict', `the comparison ${id} is done`);
}

/** Lets one go on that stopped, or whose process was killed; `launchComparison` does the work. @throws conflict when it is done */
export async function resumeComparison(id: string): Promise<void> {
  const doc = await comparisonById(id);
  if (doc?.state === 'running') return;
  if (!(await changeComparison(id, ['stopped'], { state: 'running' })))
    throw new CdrError('conflict', `the comparison ${id} is done`);
}

/** Carries a comparison on in the background; what stops it is noted in it. */
export function launchComparison(settings: ChangeSettings, id: string): void {
  inBackground(() => runComparison(settings, id));
}

/**
 * Carries a comparison on from where it stands until it is done or cancelled; a sample, which is small, from its beginning. One process
 * at a time; may be killed at any moment. @throws conflict when another one is at it
 */
export async function runComparison(settings: ChangeSettings, id: string): Promise<void> {
  await withLease(
    `template comparison ${id}`,
    `the comparison ${id} is under way`,
    async () => {
      try {
        await compare(settings, id);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        await changeComparison(id, ['running'], { state: 'stopped', reason });
        throw error;
      }
    },
    JOB_LEASE_MS,
  );
}

async function compare(settings: ChangeSettings, id: string): Promise<void> {
  const doc = await comparisonById(id);
  if (doc?.state !== 'running') return;
  const after =
    doc.opt === undefined
      ? await revisionInUse(doc.template_id, doc.to)
      : await asNextRevision(doc.template_id, doc.opt);
  const before = doc.from === undefined ? null : await revisionInUse(doc.template_id, doc.from);
  if (after === null || (doc.from !== undefined && before === null))
    throw new CdrError('conflict', 'a revision that is compared is not there any more');
  const judge = asItIs(after, settings);
  if (doc.data === 'sample') await forgetJudged(id);
  const steps =
    doc.data === 'sample' ? sampleTemplate(doc.template_id) : walkTemplate(doc.template_id, doc.position);
  for await (const { containers, position } of steps) {
    if (!(await step(id, { judge, before, containers, position }))) return;
    await setTimeout(PAUSE_MS);
  }
  await changeComparison(id, ['running'], { state: 'done', finished_at: new Date() });
}

interface Step extends WalkStep {
  readonly judge: ReturnType<typeof asItIs>;
  /** Only its data are judged; null: all. */
  readonly before: TemplateInUse | null;
}

/** Judges some COMPOSITIONs and notes it together with where it stands. False: it was cancelled. */
async function step(id: string, { judge, before, containers, position }: Step): Promise<boolean> {
  const found: Parameters<typeof addJudged>[1][number][] = [];
  const isOf = before === null ? null : belongingTo(before);
  for (const latest of await latestOf(containers)) {
    const isMeant = isOf === null || (await isOf(latest));
    found.push({ version: latest.version, judged: isMeant ? judge(latest.version) : null });
    await setImmediate();
  }
  return inTransaction(async () => {
    const doc = await comparisonById(id);
    if (doc?.state !== 'running') return false;
    const { judged, examples } = addJudged(doc, found);
    await noteJudged(id, { ...judged, position }, examples);
    return true;
  });
}
