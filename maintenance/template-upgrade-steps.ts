import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';
import type { JsonObject } from '../openehr/base/json.js';
import { groupBy } from '../openehr/base/maps.js';
import { readRules } from '../openehr/template/upgrade/rules.js';
import { inNotedTransaction } from '../change/commit/audit-draft.js';
import { partyNamed } from '../change/commit/audit.js';
import { CHANGE_TYPE } from '../change/commit/codes.js';
import { commit, commitTogether } from '../change/commit/commit.js';
import { changeContext, type ChangeContext, type ChangeSettings } from '../change/commit/context.js';
import type { CommitRequest, UpdateEntry } from '../change/commit/request.js';
import { nextComposition } from '../change/composition/composition.js';
import { requireUnrestricted } from '../change/mark/restriction.js';
import { readObject } from '../change/content/content.js';
import { inTransaction } from '../database/transaction.js';
import { ahead } from '../models/access/in-steps.js';
import { removeAliases } from '../models/cross-collection/template-aliases.js';
import { revisionInUse } from '../models/definition/revision-in-use.js';
import { LEAF_TRUST_MS } from '../models/settings.js';
import {
  changeState,
  noteStep,
  upgradeById,
  WALK_BEGIN,
  type LeftComposition,
  type TemplateUpgradeDoc,
  type UpgradeState,
} from '../models/template-upgrade.js';
import { causeOf, mapBy, stateOf, type UpgradeCause } from './template-judge.js';
import { StepPace } from './template-pace.js';
import { belongingTo } from './template-plan.js';
import { descriptionOf, undoingEntries } from './template-undo.js';
import { latestOf, walkTemplate, type LatestComposition, type WalkStep } from './template-walk.js';

/** A new VERSION of a COMPOSITION, or why there is none; null: there is nothing to do. */
type StepEntry = UpdateEntry | LeftComposition | null;

/** What is done with the COMPOSITIONs of a step, in their order. */
type MakeEntries = (latests: readonly LatestComposition[]) => AsyncGenerator<StepEntry>;

/** The operation that takes an upgrade back. */
const UNDO_UPGRADE = 'undoTemplateUpgrade';

/** Ends the transaction of a step of an upgrade that is taken back meanwhile: what it would write, no undo would find. */
export class NotWanted extends Error {}

/**
 * Carries an upgrade on, or takes it back, from where it stands. One step is made ready while the one before it is written.
 * @throws NotWanted; CdrError for what stops it
 */
export async function carryOut(settings: ChangeSettings, doc: TemplateUpgradeDoc): Promise<void> {
  const { _id: id } = doc;
  const isBack = doc.state === 'undoing';
  const context = changeContext({ ...settings, templateRevisions: true });
  const make = isBack ? undoing(context, doc) : await upgrading(context, doc);
  // Every server is to see what will be moved before the first is.
  if (!isBack && isMoving(doc)) await setTimeout(2 * LEAF_TRUST_MS);
  const pace = new StepPace();
  for await (const step of ahead(prepared(doc, make, pace))) {
    if ((await upgradeById(id))?.state !== doc.state) return;
    const start = performance.now();
    await write(context, doc, step);
    await setTimeout(pace.took(step.containers.length, performance.now() - start));
  }
  // While something is left that the upgrade wrote, former and new places are still to be seen as one.
  if (isBack && (await upgradeById(id))?.left === 0)
    await inNotedTransaction(UNDO_UPGRADE, (session) => removeAliases(session, doc.template_id, id), {
      target: doc.template_id,
      objects: [id],
    });
  const state = isBack ? 'undone' : 'done';
  await changeState(id, [doc.state], { state, finished_at: new Date(), position: WALK_BEGIN });
}

function isMoving({ rules }: TemplateUpgradeDoc): boolean {
  return readRules(rules).some((rule) => 'move' in rule);
}

/** What a step is to write. */
interface PreparedStep extends WalkStep {
  readonly entries: readonly PreparedEntry[];
  readonly left: readonly LeftComposition[];
}

interface PreparedEntry {
  readonly latest: LatestComposition;
  readonly entry: UpdateEntry;
}

async function* prepared(
  doc: TemplateUpgradeDoc,
  make: MakeEntries,
  pace: StepPace,
): AsyncGenerator<PreparedStep> {
  const how = { size: () => pace.size, withDeleted: doc.state === 'undoing' };
  for await (const step of walkTemplate(doc.template_id, doc.position, how)) {
    const latests = await latestOf(step.containers);
    const entries: PreparedEntry[] = [];
    const lefts: LeftComposition[] = [];
    let index = 0;
    for await (const made of make(latests)) {
      const latest = latests[index];
      index += 1;
      if (made !== null && 'reason' in made) lefts.push(made);
      else if (made !== null && latest !== undefined) entries.push({ latest, entry: made });
      // Others are answered in between.
      await setImmediate();
    }
    yield { ...step, entries, left: lefts };
  }
}

/** @throws conflict when a revision of the upgrade is not there any more */
async function upgrading(context: ChangeContext, doc: TemplateUpgradeDoc): Promise<MakeEntries> {
  const { template_id: templateId, from, to, rules, rewrite } = doc;
  const before = await revisionInUse(templateId, from);
  const after = await revisionInUse(templateId, to);
  if (before === null || after === null)
    throw new CdrError('conflict', `${before === null ? doc.from_name : doc.to_name} is not there any more`);
  const map = mapBy({ before, after, rules }, context.settings);
  return async function* (latests) {
    const isOf = belongingTo(before);
    const here = {
      ...context,
      pin: { templateId: after.compiled.templateId, revision: to },
      templates: new Map(),
    };
    for (const latest of latests) {
      const made = (await isOf(latest)) ? map(latest.version) : null;
      if (made === null || (made.kind === 'valid' && !rewrite)) yield null;
      else if (made.kind === 'invalid') yield left(latest, reasonOf(made.causes));
      else yield await entryOf(here, latest, { doc, content: made.content });
    }
  };
}

function undoing(context: ChangeContext, doc: TemplateUpgradeDoc): MakeEntries {
  return async function* (latests) {
    const revision = await revisionInUse(doc.template_id, doc.from);
    const pin = { templateId: revision?.compiled.templateId ?? '', revision: doc.from };
    const here = { ...context, pin, templates: new Map() };
    const undone = await undoingEntries(latests, doc);
    for (const [index, latest] of latests.entries()) {
      const made = undone[index] ?? null;
      if (made === null || 'reason' in made) yield made;
      else if (revision === null) yield left(latest, `the revision ${doc.from_name} is not there any more`);
      else yield await entryOf(here, latest, { doc, content: made.content });
    }
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
  const isBack = doc.state === 'undoing';
  const audit = {
    changeType: CHANGE_TYPE['format conversion'],
    committer: partyNamed(isBack ? (doc.undo_started_by ?? doc.started_by) : doc.started_by),
    description: { _type: 'DV_TEXT', value: descriptionOf(doc._id, isBack) },
  };
  const preceding = {
    container,
    metadata: { audit, lifecycleState: stateOf(version) },
    precedingVersionUid: version._id,
  };
  try {
    return await nextComposition(context, preceding, readObject(content, 'COMPOSITION'));
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const { violations = [] } = error.details;
    return left(latest, violations.length === 0 ? error.message : reasonOf(violations.map(causeOf)));
  }
}

function reasonOf([cause]: readonly UpgradeCause[]): string {
  return cause === undefined ? 'it is not valid' : `${cause.path}: ${cause.message}`;
}

function left({ version }: LatestComposition, reason: string): LeftComposition {
  return { ehr_id: version.ehr_id, object_id: version.object_id, uid: version._id, reason };
}

/** In which states what a step did is still wanted: a pause lets it end. */
function wantedIn({ state }: TemplateUpgradeDoc): readonly UpgradeState[] {
  return state === 'undoing' ? ['undoing'] : ['running', 'paused'];
}

/** One transaction for all; what that refuses is committed one by one, which says why. Each VERSION is counted in its own transaction. */
async function write(context: ChangeContext, doc: TemplateUpgradeDoc, step: PreparedStep): Promise<void> {
  const { containers, position, entries } = step;
  const lefts = [...step.left];
  const note = async (count: number, further: Parameters<typeof noteStep>[2] = {}): Promise<void> => {
    const counts = doc.state === 'undoing' ? { undone: count } : { upgraded: count };
    if (!(await noteStep(doc._id, wantedIn(doc), { ...counts, ...further }))) throw new NotWanted();
  };
  // In the transaction that writes, after the write: a mark that is set meanwhile changes the same EHR.
  const unrestricted = async (written: readonly PreparedEntry[]): Promise<void> => {
    for (const [ehrId, ofEhr] of groupBy(written, ({ latest }) => latest.container.ehr_id))
      await requireUnrestricted(
        ehrId,
        ofEhr.map(({ latest }) => latest.container._id),
      );
  };
  const requests = [...groupBy(entries, ({ latest }) => latest.container.ehr_id).values()].map(commitOf);
  const isDone =
    requests.length > 0 &&
    (await commitTogether(context, requests, {
      known: containers,
      inSameTransaction: async () => {
        await unrestricted(entries);
        await note(entries.length, { position, left: lefts });
      },
    }).catch(isRestricted));
  if (isDone) return;
  for (const each of entries)
    await commit(context, {
      ...commitOf([each]),
      inSameTransaction: async () => {
        await unrestricted([each]);
        await note(1);
      },
    }).catch((error: unknown) => {
      if (!(error instanceof CdrError)) throw error;
      lefts.push(left(each.latest, error.message));
    });
  await inTransaction(() => note(0, { position, left: lefts }));
}

/** What is restricted keeps the others of its step from nothing: they are written one by one. */
function isRestricted(error: unknown): false {
  if (error instanceof CdrError && error.code === 'restricted') return false;
  throw error;
}

function commitOf(prepared: readonly PreparedEntry[]): CommitRequest {
  const [first] = prepared;
  if (first === undefined) throw new TypeError('a CONTRIBUTION has an entry');
  const entries = prepared.map(({ entry }) => entry);
  return {
    ehrId: first.latest.container.ehr_id,
    contributionUid: randomUUID(),
    audit: first.entry.audit,
    entries,
  };
}
