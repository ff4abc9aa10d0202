import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  definitionsIn,
  exportedEhr,
  exportedCategoryVersions,
  exportedPolicyVersions,
  movesSoFar,
  contributionOwners,
} from '../../models/cross-collection/interchange.js';
import { exportedEhrIds } from '../../models/cross-collection/interchange-ehrs.js';
import { exportedAudit } from '../../models/cross-collection/interchange-audit.js';
import type { StoredQueryDoc } from '../../models/definition/stored-query.js';
import type { TemplateDoc } from '../../models/definition/template.js';
import type { EhrDoc } from '../../models/ehr.js';
import { inReadSession } from '../../models/access/one-snapshot.js';
import type { Session } from '../../models/access/write.js';
import { auditLine, documentLine, endLine, HEADER_LINE, storedQueryLine } from './line-text.js';
import { ExportMoves } from './export-moves.js';
import { sectionLines, type Section } from './export-section.js';
import { templateLines } from './export-template.js';

/** What of a store is exported. */
export interface ExportScope {
  /** EHRs with the templates that they use; null: all, and all definitions. */
  readonly ehrIds: readonly string[] | null;
  /** Only EHRs to which something was committed from then on; null: whenever. */
  readonly since: Date | null;
  /** Whether the records of the audit go with them. */
  readonly audit?: boolean;
}

/** Where an export goes. */
interface ExportSink {
  write(text: string): Promise<void>;
  /** Called after each EHR. */
  readonly onEhr?: () => void;
  /** Notes that an EHR is read, before anything of it is written. */
  readonly record?: (ehrId: string) => Promise<void>;
}

/** What an export came to. */
interface Exported {
  readonly ehrs: number;
  /** With the first and the last. */
  readonly lines: number;
  /** EHRs that vanished under way, or of which content went to or from what was written before, each with its reason. */
  readonly missing: readonly string[];
}

/** Characters of an EHR that are held back until it is known that nobody changed it meanwhile. */
const HELD = 16 * 1024 * 1024;
/** How often an EHR that changes is read anew. */
const MAX_READS = 50;
/** How often, and after how long each time, an EHR is looked at again that is merged in steps: five minutes. */
const MAX_WAITS = 1_200;
const WAIT_MS = 250;

/**
 * Writes all versions of EHRs, and what belongs to them, as an interchange file, each EHR of one moment: docs/spec/interchange.md#one-moment
 * `held`: characters of an EHR that may be read anew.
 * @throws Error when an EHR that is named is not active, or content of one that is not goes with it; when a large EHR was changed
 * while it was read, or EHRs are merged in steps when it begins: nothing that was written can be imported then
 */
export function exportInterchange(scope: ExportScope, sink: ExportSink, held = HELD): Promise<Exported> {
  return inReadSession(async (session) => {
    if ((await movesSoFar(session)) === null)
      throw new Error('EHRs are being merged in steps: export again when that has ended');
    const isWhole = scope.ehrIds === null && scope.since === null;
    const run = new ExportRun(session, { sink, held }, await ExportMoves.begin(session, isWhole));
    await run.line(HEADER_LINE);
    if (scope.ehrIds === null) await run.definitions();
    if (scope.ehrIds !== null) await run.named(scope.ehrIds);
    else {
      for await (const ehrId of exportedEhrIds(session, scope.since)) await run.ehr(ehrId);
      await run.others();
    }
    if (scope.audit === true)
      for await (const record of exportedAudit(session, scope)) await run.line(auditLine(record));
    return run.end();
  });
}

class ExportRun {
  readonly #hash = createHash('sha256');
  /** Templates and documents that were written. */
  readonly #known = new Set<string>();
  /** By EHR, why it is not there. */
  readonly #missing = new Map<string, string>();
  #lines = 0;
  #ehrs = 0;

  constructor(
    private readonly session: Session,
    private readonly to: { readonly sink: ExportSink; readonly held: number },
    private readonly moves: ExportMoves,
  ) {}

  async line(text: string): Promise<void> {
    this.#lines += 1;
    const line = `${text}\n`;
    this.#hash.update(line);
    await this.to.sink.write(line);
  }

  async definitions(): Promise<void> {
    const { session } = this;
    for await (const template of definitionsIn<TemplateDoc>(session, 'templates')) {
      for await (const line of templateLines(session, template, (key) => this.#isFirst(key)))
        await this.line(line);
    }
    for await (const document of definitionsIn(session, 'archetypes'))
      await this.line(documentLine({ collection: 'archetypes', document }, null));
    for await (const query of definitionsIn<StoredQueryDoc>(session, 'stored_queries'))
      await this.line(storedQueryLine(query));
    for await (const document of definitionsIn(session, 'query_owners'))
      await this.line(documentLine({ collection: 'query_owners', document }, null));
    // Before the policies that name categories.
    for await (const document of exportedCategoryVersions(session))
      await this.line(documentLine({ collection: 'category_versions', document }, null));
    for await (const document of exportedPolicyVersions(session))
      await this.line(documentLine({ collection: 'policy_versions', document }, null));
  }

  #isFirst(key: string): boolean {
    const isNew = !this.#known.has(key);
    this.#known.add(key);
    return isNew;
  }

  /** EHRs by name. @throws Error when one is not active, or content of another goes with one */
  async named(ehrIds: readonly string[]): Promise<void> {
    const sorted = [...new Set(ehrIds)].sort();
    // Those that vanish later are named, and the others go on.
    for (const ehrId of sorted) {
      const ehr = await exportedEhr(this.session, ehrId);
      if (ehr?.merged_into !== undefined)
        throw new Error(`EHR ${ehrId} was merged into ${ehr.merged_into}: export that one`);
      if (ehr?.state !== 'active') throw new Error(`EHR with id ${ehrId} does not exist`);
    }
    for (const ehrId of sorted) {
      const { strangers } = await this.ehr(ehrId);
      const owners = await contributionOwners(this.session, [...strangers]);
      const others = [...new Set(owners.values())].filter((owner) => !sorted.includes(owner));
      if (others.length > 0)
        throw new Error(
          `EHR ${ehrId} has content that was committed to ${others.join(', ')}, from which it was taken: export them together`,
        );
    }
  }

  /** One EHR; nothing of one that is not active any more. */
  async ehr(ehrId: string): Promise<Pick<Section, 'strangers'>> {
    const { record } = this.to.sink;
    const isNoted = record !== undefined && (await exportedEhr(this.session, ehrId))?.state === 'active';
    if (isNoted) await record(ehrId);
    return this.#ehr(ehrId);
  }

  async #ehr(ehrId: string): Promise<Pick<Section, 'strangers'>> {
    for (let reads = 1; reads <= MAX_READS; reads += 1) {
      const ehr = await this.#settled(ehrId);
      const section: Section = { known: this.#known, written: new Set(), strangers: new Set() };
      if (ehr?.state !== 'active' || ehr.merging !== undefined) {
        this.#pass(ehrId, reasonOf(ehr));
        return section;
      }
      const stale = await this.moves.staleBeside(ehr);
      if (stale !== null) {
        this.#pass(ehrId, `content went between it and EHR ${stale}, which was exported before`);
        return section;
      }
      if (await this.#write(ehr, section)) return section;
    }
    throw new Error(`EHR ${ehrId} is changed again and again: export again`);
  }

  /** Writes an EHR of one moment; false: it was changed while it was read. */
  async #write(ehr: EhrDoc, section: Section): Promise<boolean> {
    const [held, isBegun] = await this.#read(sectionLines(this.session, ehr, section));
    const after = await exportedEhr(this.session, ehr._id);
    const isStill = after?.write_seq === ehr.write_seq && after.state === ehr.state;
    if (!isStill && isBegun)
      throw new Error(`EHR ${ehr._id} was changed while it was exported: export again`);
    if (!isStill) return false;
    for (const text of held) await this.line(text);
    for (const key of section.written) this.#known.add(key);
    this.#ehrs += 1;
    this.#missing.delete(ehr._id);
    this.moves.wrote(ehr);
    this.to.sink.onEhr?.();
    return true;
  }

  #pass(ehrId: string, reason: string): void {
    this.#missing.set(ehrId, `EHR ${ehrId} is not exported: meanwhile ${reason}`);
    this.moves.pass(ehrId);
  }

  /** An EHR in which nothing is under way in steps any more, or which is one for longer than an export waits. */
  async #settled(ehrId: string): Promise<EhrDoc | null> {
    for (let waits = 0; ; waits += 1) {
      const ehr = await exportedEhr(this.session, ehrId);
      if (ehr?.merging === undefined || waits === MAX_WAITS) return ehr;
      await setTimeout(WAIT_MS);
    }
  }

  /** EHRs that were taken out of others since the list was read. Of those that were merged only what is nowhere in the file is missing. */
  async others(): Promise<void> {
    for (let turns = 0; turns < MAX_READS; turns += 1) {
      const left = await this.moves.left();
      const known = new Set(left.map(({ _id }) => _id));
      for (const { _id, merged_into: into } of await this.moves.merged())
        if (into !== undefined && !known.has(_id)) this.#missing.delete(_id);
      const fresh = left.filter(({ _id }) => !this.#missing.has(_id));
      if (fresh.length === 0) return;
      for (const { _id } of fresh) await this.ehr(_id);
    }
  }

  /** Reads lines; of those that are more than may be held all but the last are written. */
  async #read(lines: AsyncIterable<string>): Promise<[held: readonly string[], isBegun: boolean]> {
    let held: string[] = [];
    let length = 0;
    let isBegun = false;
    for await (const line of lines) {
      held.push(line);
      length += line.length;
      if (length <= this.to.held) continue;
      for (const text of held) await this.line(text);
      [held, length, isBegun] = [[], 0, true];
    }
    return [held, isBegun];
  }

  async end(): Promise<Exported> {
    const last = endLine(this.#lines, this.#hash.digest('hex'));
    await this.to.sink.write(`${last}\n`);
    return { ehrs: this.#ehrs, lines: this.#lines + 1, missing: [...this.#missing.values()] };
  }
}

function reasonOf(ehr: EhrDoc | null): string {
  if (ehr?.merged_into !== undefined) return `it was merged into EHR ${ehr.merged_into}`;
  if (ehr?.state === 'active') return 'it is being merged in steps';
  return 'it was erased';
}
