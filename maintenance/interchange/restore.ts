import { CdrError } from '../../openehr/base/errors.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { within } from '../../openehr/base/work.js';
import { auditCommitted, auditWrites } from '../../change/commit/audit-draft.js';
import { writeAlone } from '../../change/commit/commit-group.js';
import { byCollection } from '../../change/commit/plan.js';
import { signatureState } from '../../change/commit/signature.js';
import { requireRestorable } from '../../change/mark/restriction.js';
import { saveShapes } from '../../models/aql-shape.js';
import { useOfRevision } from '../../models/definition/revision-in-use.js';
import type { VersionDoc } from '../../models/version.js';
import { noteSystems } from '../../models/settings.js';
import type { Write } from '../../models/access/write.js';
import type { EhrPart, RestoreHow, RestorePlan, RestoreState } from './part.js';
import { planPart } from './plan.js';
import { readState } from './restore-state.js';

/** What became of a part: its members that were there already, or why nothing of it was written. */
type PartOutcome = ReadonlySet<object> | CdrError;

/** What refuses lines, and is neither a database that is away or busy nor the budget of a request that is used up. */
export function isRefusal(error: unknown): error is CdrError {
  if (!(error instanceof CdrError) || typeof error.details.budget?.setting === 'string') return false;
  return ['invalid', 'conflict', 'unprocessable', 'restricted'].includes(error.code);
}

/** How often a part is planned anew when others were faster. */
const MAX_ATTEMPTS = 5;

/** Restores EHRs of one import, whatever parts they come in. */
export class EhrRestore {
  readonly #how: RestoreHow;
  /** Systems that are noted. */
  readonly #systems = new Set<string>();
  /** Templates that are noted as used. */
  readonly #used = new Set<string>();

  constructor(how: RestoreHow) {
    this.#how = how;
  }

  /**
   * Restores parts of several EHRs, all in one transaction; when they cannot be, each by itself. Nothing of a part that is
   * refused is written. @throws the errors of the database
   */
  async restore(parts: readonly EhrPart[]): Promise<PartOutcome[]> {
    if (parts.length > 1) {
      const together = await this.#together(parts);
      if (together !== null) return together;
    }
    const outcomes: PartOutcome[] = [];
    for (const part of parts) outcomes.push(await this.#alone(part));
    return outcomes;
  }

  /** Optimistic: of EHRs that are not here nothing is expected to be here. Null: something was, or a part is refused. */
  async #together(parts: readonly EhrPart[]): Promise<PartOutcome[] | null> {
    try {
      const states = await readState(parts, 'expected');
      const plans: PartPlan[] = [];
      for (const [index, part] of parts.entries())
        plans.push(await this.#planned(part, states[index] as RestoreState));
      return (await this.#write(plans)) ? plans.map(({ there }) => there) : null;
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  async #alone(part: EhrPart): Promise<PartOutcome> {
    for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
      try {
        const [state] = await readState([part], 'whole');
        const plan = await this.#planned(part, state as RestoreState);
        if (await this.#write([plan])) return plan.there;
      } catch (error) {
        if (isRefusal(error)) return error;
        throw error;
      }
    }
    return new CdrError(
      'conflict',
      `EHR ${part.ehrId} cannot be restored: an id or its subject is taken here`,
    );
  }

  async #planned(part: EhrPart, state: RestoreState): Promise<PartPlan> {
    await requireSignatures(part, state);
    const { ehrId } = part;
    const plan = { ehrId, ...within(this.#how.work ?? null, () => planPart(part, state, this.#how)) };
    const uses: Write[] = [];
    for (const use of new Map(part.versions.flatMap(({ doc }) => useOf(doc))).values())
      uses.push(...(await this.#useOf(use)));
    return plan.writes.length === 0 ? plan : { ...plan, writes: [...plan.writes, ...uses] };
  }

  /** A template that a VERSION names must be there, with the revision by which it was judged. @throws unprocessable */
  async #useOf({ key, templateId, digest }: TemplateUse): Promise<Write[]> {
    if (this.#used.has(key)) return [];
    const uses = await useOfRevision(templateId, digest);
    if (uses === null)
      throw new CdrError(
        'unprocessable',
        `${digest === null ? '' : `revision ${digest} of `}template ${templateId} is neither here nor before what uses it in the file`,
      );
    if (uses.length === 0) this.#used.add(key);
    return uses;
  }

  /** Whether what was expected was so; if not, nothing is written. */
  async #write(plans: readonly PartPlan[]): Promise<boolean> {
    const writes = byCollection(plans.flatMap((plan) => plan.writes));
    if (writes.length === 0) return true;
    await saveShapes([...new Set(plans.flatMap(({ shapes }) => shapes))]);
    await this.#noteSystems(writes);
    const { audited } = this.#how;
    const restorable = (): Promise<void> =>
      requireRestorable(
        new Map(
          plans.flatMap((plan) => (plan.writes.length === 0 ? [] : [[plan.ehrId, contributionsIn(plan)]])),
        ),
        this.#how.batch,
      );
    if (audited === undefined) return writeAlone(writes, restorable);
    const isWritten = await writeAlone([...writes, ...auditWrites(audited)], restorable);
    if (isWritten) auditCommitted();
    return isWritten;
  }

  async #noteSystems(writes: readonly Write[]): Promise<void> {
    const systems = new Set<string>();
    for (const write of writes) {
      if (write.collection !== 'versions' || !('insert' in write)) continue;
      const id = parseObjectVersionId(write.insert._id);
      if (id !== null && !this.#systems.has(id.systemId)) systems.add(id.systemId);
    }
    if (systems.size === 0) return;
    await noteSystems([...systems]);
    for (const system of systems) this.#systems.add(system);
  }
}

/** What a part comes to, of which EHR. */
interface PartPlan extends RestorePlan {
  readonly ehrId: string;
}

function contributionsIn({ writes }: RestorePlan): number {
  return writes.filter((write) => write.collection === 'contributions' && 'insert' in write).length;
}

/** A template that a VERSION names, with the digest of the revision by which it was judged; null: it notes none. */
interface TemplateUse {
  readonly key: string;
  readonly templateId: string;
  readonly digest: string | null;
}

function useOf({ template_id: templateId, template_digest }: VersionDoc): [string, TemplateUse][] {
  if (templateId === undefined) return [];
  const digest = template_digest ?? null;
  const key = JSON.stringify([templateId, digest]);
  return [[key, { key, templateId, digest }]];
}

/** What is new is what its signature says, as far as anybody here can tell. @throws invalid */
async function requireSignatures({ versions }: EhrPart, state: RestoreState): Promise<void> {
  for (const { doc } of versions)
    if (!state.versions.has(doc._id) && (await signatureState(doc)) === 'mismatched')
      throw new CdrError(
        'invalid',
        `VERSION ${doc._id} cannot be restored: its signature is not that of what it is`,
      );
}
