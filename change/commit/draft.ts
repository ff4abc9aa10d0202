import type { Subject } from '../../models/ehr.js';
import type { Identity } from '../../models/identity.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { ChangeSettings } from './context.js';
import { notModifiable } from './refusal.js';
import type { CommitRequest, CommitState } from './request.js';

/** What an EHR_STATUS version makes of its EHR. */
export interface EhrFlags {
  readonly versionedObjectUid: string;
  readonly isQueryable: boolean;
  readonly isModifiable: boolean;
  readonly subject: Subject | null;
  readonly identities: readonly Identity[];
}

/** How far the planning of a commit came: the state with the effects of the entries planned so far. */
export class CommitDraft {
  readonly settings: ChangeSettings;
  readonly state: CommitState;
  readonly request: CommitRequest;
  /** Commit time of all entries (but see `timeAfter`). */
  readonly time: Date;
  /** What the plan takes the EHR's flags to be before the commit. */
  readonly expected: { readonly isQueryable: boolean; readonly isModifiable: boolean };
  /** Of the last EHR_STATUS entry so far, null before one. */
  status: EhrFlags | null = null;
  /** Container of the live directory so far. */
  directoryId: string | null;
  /** Whether an entry depends on the EHR being modifiable before the commit. */
  needsModifiable = false;
  readonly #containers: Map<string, VersionedObjectDoc>;

  constructor(settings: ChangeSettings, state: CommitState, request: CommitRequest, time: Date) {
    this.settings = settings;
    this.state = state;
    this.request = request;
    this.time = time;
    this.directoryId = state.directoryId;
    this.#containers = new Map(state.containers);
    const { ehr } = state;
    this.expected =
      ehr === 'expected' || ehr === null
        ? { isQueryable: true, isModifiable: true }
        : { isQueryable: ehr.is_queryable, isModifiable: ehr.is_modifiable };
  }

  /** `is_queryable` at this point. */
  get isQueryable(): boolean {
    return this.status?.isQueryable ?? this.expected.isQueryable;
  }

  /** The container as the entries so far leave it. */
  container(versionedObjectUid: string): VersionedObjectDoc | null {
    return this.#containers.get(versionedObjectUid) ?? null;
  }

  /** Takes over the container as the entry just planned leaves it. */
  keep(container: VersionedObjectDoc): void {
    this.#containers.set(container._id, container);
  }

  /** Time of the next version: the commit's, or 1 ms after a version that the same commit made. */
  timeAfter(container: VersionedObjectDoc): Date {
    return new Date(Math.max(this.time.getTime(), container.latest_time_committed.getTime() + 1));
  }

  /** Notes that content is written. @throws conflict when the EHR_STATUS in force forbids it */
  requireModifiable(): void {
    if (this.request.isRestoring === true) return;
    const isModifiable = this.status?.isModifiable ?? this.expected.isModifiable;
    if (!isModifiable) throw notModifiable(this.request.ehrId);
    if (this.status === null) this.needsModifiable = true;
  }
}
