import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import type { JsonObject } from '../openehr/base/json.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import { partyNamed } from '../change/commit/audit.js';
import { CHANGE_TYPE } from '../change/commit/codes.js';
import { commit, commitTogether } from '../change/commit/commit.js';
import { changeContext, type ChangeContext, type ChangeSettings } from '../change/commit/context.js';
import type { CommitRequest, UpdateEntry } from '../change/commit/request.js';
import { requestIdentity, withRequestIdentity } from '../change/commit/request-identity.js';
import type { RequestIdentity } from '../models/contribution.js';
import { nextComposition } from '../change/composition/composition.js';
import { readObject } from '../change/content/content.js';
import { groupBy } from '../openehr/base/maps.js';
import { withLease } from '../models/access/lease.js';
import { revisionInUse } from '../models/definition/revision-in-use.js';
import {
  changeState,
  forgetLeft,
  insertUpgrade,
  noteStep,
  openUpgrade,
  upgradeById,
  WALK_BEGIN,
  type LeftComposition,
  type TemplateUpgradeDoc,
  type UpgradeState,
  type WalkPosition,
} from '../models/template-upgrade.js';
import type { VersionedObjectDoc } from '../models/versioned-object.js';
import { JOB_LEASE_MS, inBackground } from './in-background.js';
import { addAliases, removeAliases } from '../models/cross-collection/template-aliases.js';
import { LEAF_TRUST_MS } from '../models/settings.js';
import { aliasesOf } from '../openehr/template/upgrade/alias.js';
import { readRules } from '../openehr/template/upgrade/rules.js';
import { inTransaction } from '../database/transaction.js';
import { judgeBy, stateOf } from './template-judge.js';
import { isOf, planHash, upgradeWork, type UpgradeRequest } from './template-plan.js';
import { latestOf, walkTemplate, type LatestComposition } from './template-walk.js';
import { descriptionOf, undoingEntry } from './template-undo.js';

/** Between two steps, ms: whoever waits for the database comes first. */
const PAUSE_MS = 20;

/** A new VERSION of a COMPOSITION, or why there is none; null: there is nothing to do. */
type StepEntry = UpdateEntry | LeftComposition | null;

/** What is done with each COMPOSITION. */
type MakeEntry = (latest: LatestComposition) => Promise<StepEntry>;

/**
 * Begins an upgrade as it was planned; `launchUpgrade` does the work.
 * @throws conflict when the data moved on since the plan, or another upgrade of the template is not done
 */
export async function beginUpgrade(
  request: UpgradeRequest,
  hash: string,
  startedBy: string,
): Promise<TemplateUpgradeDoc> {
  const work = await upgradeWork(request);
  if ((await planHash(request, work)) !== hash)
    throw new CdrError('conflict', 'the data, the revisions or the rules are not those of the plan any more');
  const { before, after, rules } = work;
  const id = randomUUID();
  const aliases = aliasesOf(readRules(rules), before.compiled, after.compiled, id);
  const doc: TemplateUpgradeDoc = {
    _id: id,
    template_id: after.storedId,
    from: before.digest,
    to: after.digest,
    from_name: before.name,
    to_name: after.name,
    rules,
    rewrite: request.rewrite,
    state: 'running',
    started_at: new Date(),
    started_by: startedBy,
    begun_by: thisRequest(),
    position: WALK_BEGIN,
    upgraded: 0,
    undone: 0,
    left: 0,
  };
  await inAuditedTransaction(
    async (session) => {
      const other = await openUpgrade(after.storedId);
      if (other !== null)
        throw new CdrError(
          'conflict',
          `the upgrade ${other._id} of the template is not done (${other.state})`,
        );
      await insertUpgrade(doc);
      await addAliases(session, after.storedId, aliases);
    },
    () => ({ objects: [doc._id] }),
  );
  return doc;
}

/** Pauses an upgrade after the step that it is at. @throws conflict when it is not running */
export async function pauseUpgrade(id: string): Promise<void> {
  if (!(await changeState(id, ['running'], { state: 'paused' }))) throw notSo(id, 'running');
}

/** Lets an upgrade go on that was paused, or whose process was killed; `launchUpgrade` does the work. @throws conflict when it is done */
export async function resumeUpgrade(id: string): Promise<void> {
  const doc = await upgradeById(id);
  if (doc !== null && AT_WORK.includes(doc.state)) return;
  if (!(await changeState(id, ['paused'], { state: 'running' }))) throw notSo(id, 'paused or interrupted');
}

/** Begins to take an upgrade back; `launchUpgrade` does the work. @throws conflict while it is running */
export async function beginUndo(id: string): Promise<void> {
  const change = { state: 'undoing', position: WALK_BEGIN, left: 0, undone_by: thisRequest() } as const;
  // Together: what was left before is no obstacle of the undo.
  await inTransaction(async () => {
    if (!(await changeState(id, ['paused', 'done'], change))) throw notSo(id, 'paused or done');
    await forgetLeft(id);
  });
}

/** The request under way; without one an id of its own. */
function thisRequest(): RequestIdentity {
  return requestIdentity() ?? { request_id: randomUUID() };
}

const AT_WORK: readonly UpgradeState[] = ['running', 'undoing'];

function notSo(id: string, state: string): CdrError {
  return new CdrError('conflict', `the upgrade ${id} is not ${state}`);
}

/** Carries an upgrade on in the background, as soon as nobody else is at it; what stops it is noted in it. */
export function launchUpgrade(settings: ChangeSettings, id: string): void {
  inBackground(() => runUpgrade(settings, id));
}

/**
 * Carries an upgrade on, or takes it back, from where it stands until it is done or paused. One process at a time; may be killed
 * at any moment. @throws conflict when another one is at it
 */
export async function runUpgrade(settings: ChangeSettings, id: string): Promise<void> {
  await withLease(
    `template upgrade ${id}`,
    `the upgrade ${id} is under way`,
    async () => {
      try {
        const doc = await upgradeById(id);
        if (doc === null || !AT_WORK.includes(doc.state)) return;
        await withRequestIdentity(requestOf(doc), () => walk(settings, doc));
      } catch (error) {
        if (error instanceof NotWanted) return;
        const reason = error instanceof Error ? error.message : String(error);
        await changeState(id, ['running'], { state: 'paused', reason });
        await changeState(id, ['undoing'], { reason });
        throw error;
      }
    },
    JOB_LEASE_MS,
  );
}

/** Whose CONTRIBUTIONs it makes. */
function requestOf({ state, begun_by: begunBy, undone_by: undoneBy }: TemplateUpgradeDoc): RequestIdentity {
  return state === 'undoing' && undoneBy !== undefined ? undoneBy : begunBy;
}

async function walk(settings: ChangeSettings, doc: TemplateUpgradeDoc): Promise<void> {
  const { _id: id } = doc;
  const isBack = doc.state === 'undoing';
  const context = changeContext({ ...settings, templateRevisions: true });
  const make = isBack ? undoing(context, doc) : await upgrading(context, doc);
  // Every server is to see what will be moved before the first is.
  if (!isBack && isMoving(doc)) await setTimeout(2 * LEAF_TRUST_MS);
  for await (const { containers, position } of walkTemplate(doc.template_id, doc.position)) {
    if ((await upgradeById(id))?.state !== doc.state) return;
    await step(context, { doc, make, containers, position });
    await setTimeout(PAUSE_MS);
  }
  // While something is left that the upgrade wrote, former and new places are still to be seen as one.
  if (isBack && (await upgradeById(id))?.left === 0)
    await inTransaction((session) => removeAliases(session, doc.template_id, id));
  const state = isBack ? 'undone' : 'done';
  await changeState(id, [doc.state], { state, finished_at: new Date(), position: WALK_BEGIN });
}

function isMoving({ rules }: TemplateUpgradeDoc): boolean {
  return readRules(rules).some((rule) => 'move' in rule);
}

/** @throws conflict when the newest revision is another one now */
async function upgrading(context: ChangeContext, doc: TemplateUpgradeDoc): Promise<MakeEntry> {
  const { template_id: templateId, from, rules, rewrite } = doc;
  const work = await upgradeWork({ templateId, from, rules, rewrite });
  if (work.after.digest !== doc.to)
    throw new CdrError('conflict', `${doc.to_name} is not the newest revision any more`);
  const judge = judgeBy(work, context.settings);
  const pinned = { ...context, pin: { templateId: work.after.compiled.templateId, revision: doc.to } };
  return async (latest) => {
    if (!(await isOf(latest, work.before))) return null;
    const judged = judge(latest.version);
    if (judged.kind === 'invalid') {
      const [cause] = judged.causes;
      return left(latest, `${cause?.path ?? ''}: ${cause?.message ?? 'it is not valid'}`);
    }
    if (judged.kind === 'valid' && !rewrite) return null;
    return entryOf(pinned, latest, { doc, content: judged.content });
  };
}

function undoing(context: ChangeContext, doc: TemplateUpgradeDoc): MakeEntry {
  return async (latest) => {
    const undone = await undoingEntry(latest, doc);
    if (undone === null || 'reason' in undone) return undone;
    const revision = await revisionInUse(doc.template_id, doc.from);
    if (revision === null) return left(latest, `the revision ${doc.from_name} is not there any more`);
    const pinned = { ...context, pin: { templateId: revision.compiled.templateId, revision: doc.from } };
    return entryOf(pinned, latest, { doc, content: undone.content });
  };
}

interface NewContent {
  readonly doc: TemplateUpgradeDoc;
  readonly content: JsonObject;
}

async function entryOf(
  context: ChangeContext,
  latest: LatestComposition,
  { doc, content }: NewContent,
): Promise<StepEntry> {
  const { container, version } = latest;
  const value = descriptionOf(doc._id, doc.state === 'undoing');
  const audit = {
    changeType: CHANGE_TYPE['format conversion'],
    committer: partyNamed(doc.started_by),
    description: { _type: 'DV_TEXT', value },
  };
  const preceding = {
    container,
    metadata: { audit, lifecycleState: stateOf(version) },
    precedingVersionUid: version._id,
  };
  try {
    return await nextComposition(context, preceding, readObject(content, 'COMPOSITION'));
  } catch (error) {
    if (error instanceof CdrError) return left(latest, error.message);
    throw error;
  }
}

function left({ version }: LatestComposition, reason: string): LeftComposition {
  return { ehr_id: version.ehr_id, object_id: version.object_id, uid: version._id, reason };
}

/** Ends the transaction of a step of an upgrade that is taken back meanwhile: what it would write, no undo would find. */
class NotWanted extends Error {}

/** In which states what a step did is still wanted: a pause lets it end. */
function wantedIn({ state }: TemplateUpgradeDoc): readonly UpgradeState[] {
  return state === 'undoing' ? ['undoing'] : ['running', 'paused'];
}

interface Step {
  readonly doc: TemplateUpgradeDoc;
  readonly make: MakeEntry;
  readonly containers: readonly VersionedObjectDoc[];
  readonly position: WalkPosition;
}

/** One transaction for all; what that refuses is committed one by one, which says why. Each VERSION is counted in its own transaction. */
async function step(context: ChangeContext, { doc, make, containers, position }: Step): Promise<void> {
  const entries: {
    readonly ehrId: string;
    readonly latest: LatestComposition;
    readonly entry: UpdateEntry;
  }[] = [];
  const lefts: LeftComposition[] = [];
  for (const latest of await latestOf(containers)) {
    const made = await make(latest);
    if (made === null) continue;
    if ('reason' in made) lefts.push(made);
    else entries.push({ ehrId: latest.container.ehr_id, latest, entry: made });
  }
  const note = async (count: number, further: Parameters<typeof noteStep>[2] = {}): Promise<void> => {
    const counts = doc.state === 'undoing' ? { undone: count } : { upgraded: count };
    if (!(await noteStep(doc._id, wantedIn(doc), { ...counts, ...further }))) throw new NotWanted();
  };
  const requests = [...groupBy(entries, ({ ehrId }) => ehrId)].map(([ehrId, all]) =>
    commitOf(
      ehrId,
      all.map(({ entry }) => entry),
    ),
  );
  const isDone =
    requests.length > 0 &&
    (await commitTogether(context, requests, {
      known: containers,
      inSameTransaction: () => note(entries.length, { position, left: lefts }),
    }));
  if (isDone) return;
  for (const { ehrId, latest, entry } of entries)
    await commit(context, { ...commitOf(ehrId, [entry]), inSameTransaction: () => note(1) }).catch(
      (error: unknown) => {
        if (!(error instanceof CdrError)) throw error;
        lefts.push(left(latest, error.message));
      },
    );
  await inTransaction(() => note(0, { position, left: lefts }));
}

function commitOf(ehrId: string, entries: readonly UpdateEntry[]): CommitRequest {
  const [first] = entries;
  if (first === undefined) throw new TypeError('a CONTRIBUTION has an entry');
  return { ehrId, contributionUid: randomUUID(), audit: first.audit, entries };
}
