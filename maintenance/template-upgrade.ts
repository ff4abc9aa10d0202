import { randomUUID } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { inAuditedTransaction } from '../change/commit/audit-draft.js';
import type { ChangeSettings } from '../change/commit/context.js';
import { requestIdentity, withRequestIdentity } from '../change/commit/request-identity.js';
import type { RequestIdentity } from '../models/contribution.js';
import { withLease } from '../models/access/lease.js';
import {
  changeState,
  forgetLeft,
  insertUpgrade,
  openUpgrade,
  upgradeById,
  WALK_BEGIN,
  type TemplateUpgradeDoc,
  type UpgradeState,
} from '../models/template-upgrade.js';
import { JOB_LEASE_MS, inBackground } from './in-background.js';
import { addAliases } from '../models/cross-collection/template-aliases.js';
import { aliasesOf } from '../openehr/template/upgrade/alias.js';
import { readRules } from '../openehr/template/upgrade/rules.js';
import { inTransaction } from '../database/transaction.js';
import { planHash, upgradeWork, type UpgradeRequest } from './template-plan.js';
import { mindingRestrictions } from '../change/mark/restriction.js';
import { carryOut, NotWanted } from './template-upgrade-steps.js';

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
  await oneAtATime(after.storedId, () =>
    inAuditedTransaction(
      async (session) => {
        await requireNoOther(after.storedId, id);
        await insertUpgrade(doc);
        await addAliases(session, after.storedId, aliases);
      },
      () => ({ objects: [doc._id] }),
    ),
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

/**
 * Begins to take an upgrade back; `launchUpgrade` does the work. `by`: who commits what is written back.
 * @throws conflict while it is running, or another upgrade of the template is not done
 */
export async function beginUndo(id: string, by: string): Promise<void> {
  const begin = { state: 'undoing', position: WALK_BEGIN, left: 0 } as const;
  const change = { ...begin, undone_by: thisRequest(), undo_started_by: by };
  const doc = await upgradeById(id);
  if (doc === null) throw notSo(id, 'paused or done');
  // Together: what was left before is no obstacle of the undo.
  await oneAtATime(doc.template_id, () =>
    inTransaction(async () => {
      await requireNoOther(doc.template_id, id);
      if (!(await changeState(id, ['paused', 'done'], change))) throw notSo(id, 'paused or done');
      await forgetLeft(id);
    }),
  );
}

/** Of two that begin at the same instant neither would see the other. @throws conflict while another one begins */
function oneAtATime<T>(storedId: string, begin: () => Promise<T>): Promise<T> {
  const message = 'another upgrade of the template, or an undo, begins at this moment';
  return withLease(`template upgrades of ${storedId}`, message, begin, JOB_LEASE_MS);
}

/** Two upgrades of a template at a time would each meet what the other one writes. Joins the caller's transaction. */
async function requireNoOther(storedId: string, id: string): Promise<void> {
  const other = await openUpgrade(storedId, id);
  if (other === null) return;
  const message = `the upgrade ${other._id} of the template is not done (${other.state}): resume it, or take it back`;
  throw new CdrError('conflict', message);
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
        await withRequestIdentity(requestOf(doc), () =>
          mindingRestrictions(settings.accessMode, () => carryOut(settings, doc)),
        );
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
