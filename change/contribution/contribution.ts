import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DIALECTS } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { accept, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { versionById } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { CHANGE_TYPE } from '../commit/codes.js';
import { commit } from '../commit/commit.js';
import { fullState } from '../commit/commit-state.js';
import { newComposition, nextComposition, requireSameObject } from '../composition/composition.js';
import { readObject } from '../content/content.js';
import type { ChangeContext } from '../commit/context.js';
import {
  readEnvelope,
  type ContributionDefaults,
  type ContributionEnvelope,
  type VersionEnvelope,
} from './contribution-envelope.js';
import { requireFitting } from './fitting.js';
import { metadataOf, withExpectedUid } from './version-metadata.js';
import { requireKnownInputs } from './inputs.js';
import { referredContainers } from './referred.js';
import { validatedFolder, newFolder } from '../directory.js';
import { withEhrErrorFirst } from '../commit/ehr-access.js';
import { nextEhrStatus, storedStatus, warnOfStatus } from '../ehr-status.js';
import { LargeComposition } from '../content/large-composition.js';
import { planCommit } from '../commit/plan.js';
import { requireFollowing } from '../commit/preceding-state.js';
import { atEntry, notModifiable, objectNotFound } from '../commit/refusal.js';
import type {
  Commit,
  CommitRequest,
  ImportedItem,
  VersionEntry,
  VersionMetadata,
} from '../commit/request.js';
import { noteSystems } from '../../models/settings.js';

/** Types of content that a VERSION can hold here. */
const TYPES: readonly RootType[] = ['COMPOSITION', 'EHR_STATUS', 'FOLDER'];

/**
 * Commits a CONTRIBUTION of a client. ITS-REST: contribution_create. @throws CdrError:
 * docs/spec/rest.md#contribution
 */
export async function createContribution(
  context: ChangeContext,
  target: { readonly ehrId: string; readonly defaults: ContributionDefaults },
  body: JsonValue,
): Promise<Commit> {
  const { ehrId, defaults } = target;
  return withEhrErrorFirst(ehrId, 'ehr-status', async () => {
    const envelope = readEnvelope(body, context.settings, defaults);
    if (!defaults.mayNameAnyInput) await requireKnownInputs(envelope);
    const { known, unseen } = await referredContainers(ehrId, envelope);
    const request = { ...requestOf(ehrId, envelope), ...(unseen.size > 0 && { unseen }) };
    const templates = { templates: new Map(), templateTexts: new Map() };
    const validating = new Validating({ ...context, ...templates }, ehrId, known);
    const entries: VersionEntry[] = [];
    for (const [index, version] of envelope.versions.entries()) {
      // Validating thousands of versions in one go would keep every other request waiting.
      if (index > 0) await setImmediate();
      try {
        entries.push(await validating.entry(version, index));
      } catch (error) {
        await refuseEarlier(context, { ...request, entries }, version);
        throw atEntry(index, asInvalid(error));
      }
    }
    const systems = entries.flatMap(({ imported }) => imported?.id.systemId ?? []);
    if (systems.length > 0) await noteSystems([...new Set(systems)]);
    return commit(context, { ...request, entries }, known);
  });
}

function requestOf(ehrId: string, envelope: ContributionEnvelope): Omit<CommitRequest, 'entries'> {
  const contributionUid = envelope.uid ?? randomUUID();
  return {
    ehrId,
    contributionUid,
    isChosenUid: envelope.uid !== null,
    audit: envelope.audit,
    namesEntries: true,
    idempotentResult: () => ({
      kind: 'CONTRIBUTION',
      uids: { ehr_id: ehrId, contribution_uid: contributionUid },
    }),
  };
}

/**
 * Content is validated before the plan is made, but the answer is the failure of the first bad entry, and
 * `is_modifiable` comes before content: looks whether the plan refuses earlier.
 */
async function refuseEarlier(
  context: ChangeContext,
  before: CommitRequest,
  failing: VersionEnvelope,
): Promise<void> {
  const state = await fullState(before);
  planCommit(context.settings, state, before, context.now());
  const status = before.entries.findLast((entry) => 'object' in entry && entry.type === 'EHR_STATUS');
  const isModifiable =
    status !== undefined && 'object' in status
      ? status.object.is_modifiable !== false
      : state.ehr !== null && state.ehr !== 'expected' && state.ehr.is_modifiable;
  if (!isModifiable && rootTypeOf(failing.data) !== 'EHR_STATUS')
    throw atEntry(before.entries.length, notModifiable(before.ehrId));
}

/**
 * In a CONTRIBUTION content that breaks a rule is 400, an unknown template 422 as elsewhere
 * (docs/spec/formats.md#validation-stages).
 */
function asInvalid(error: unknown): unknown {
  if (!(error instanceof CdrError) || error.code !== 'unprocessable') return error;
  if (error.details.problems?.some(({ code }) => code === 'unknown-template') === true) return error;
  const { about = 'broken-rule' } = error.details;
  return new CdrError('invalid', error.message, { ...error.details, about, cause: error });
}

function rootTypeOf(data: JsonValue | undefined): RootType | null {
  const type = isJsonObject(data) ? data._type : undefined;
  return TYPES.find((known) => known === type) ?? null;
}

/** What earlier entries of the same CONTRIBUTION leave to the later ones. */
interface Earlier {
  readonly templateId: string | undefined;
  readonly object: JsonObject | null;
}

/** Validates the entries of one CONTRIBUTION one after another. */
class Validating {
  readonly #context: ChangeContext;
  readonly #ehrId: string;
  readonly #containers: ReadonlyMap<string, VersionedObjectDoc>;
  readonly #earlier = new Map<string, Earlier>();
  /** Lifecycle states that earlier entries leave, by container. */
  readonly #states = new Map<string, string>();

  constructor(context: ChangeContext, ehrId: string, known: readonly VersionedObjectDoc[]) {
    this.#context = context;
    this.#ehrId = ehrId;
    this.#containers = new Map(known.map((container) => [container._id, container]));
  }

  /** The validated entry. @throws CdrError when it breaks a rule by itself */
  async entry(version: VersionEnvelope, index: number): Promise<VersionEntry> {
    if (version.imported !== undefined) return this.#importedEntry(version, version.imported, index);
    requireFitting(version);
    const entry = await this.#validatedEntry(version, index);
    if (entry.kind === 'attest') return entry;
    const { versionedObjectUid } = entry;
    if (entry.kind === 'update')
      await requireFollowing(
        {
          ...{ ehrId: this.#ehrId, type: entry.type, versionUid: entry.precedingVersionUid },
          state: this.#states.get(versionedObjectUid),
        },
        entry,
      );
    this.#states.set(versionedObjectUid, entry.lifecycleState);
    return entry;
  }

  /** What another system made fits as it is, whatever the change type of its import. */
  async #importedEntry(
    version: VersionEnvelope,
    imported: ImportedItem,
    index: number,
  ): Promise<VersionEntry> {
    if (this.#context.readSimplified !== undefined)
      throw new CdrError('invalid', 'an IMPORTED_VERSION is as it was made: in canonical JSON or XML only');
    const metadata = { ...metadataOf(version, index), imported };
    const [{ versionedObjectUid }, { precedingVersionUid, data }] = [imported.id, version];
    if (precedingVersionUid === undefined) {
      const entry = await this.#creation(version, metadata);
      if (entry.kind !== 'create') return entry;
      const { composition, object } = entry;
      this.#earlier.set(versionedObjectUid, { templateId: composition?.templateId, object });
      return { ...entry, versionedObjectUid, isChosenId: true };
    }
    if (data !== undefined) return this.#update(version, precedingVersionUid, metadata);
    return {
      kind: 'delete',
      ...{ versionedObjectUid, precedingVersionUid, staleCode: 'precondition-failed' },
      ...metadata,
    };
  }

  async #validatedEntry(version: VersionEnvelope, index: number): Promise<VersionEntry> {
    const { precedingVersionUid: preceding, ignoredState } = version;
    if (ignoredState !== undefined)
      this.#context.warn?.({
        ...{ kind: 'lifecycle-state', name: ignoredState },
        text: `the lifecycle_state ${ignoredState} of the deletion versions[${index}] was ignored`,
      });
    const metadata = metadataOf(version, index);
    if (preceding === undefined) return this.#creation(version, metadata);
    const versionedObjectUid = rootOfUid(preceding);
    switch (version.audit.changeType) {
      case CHANGE_TYPE.attestation:
        return { kind: 'attest', versionedObjectUid, versionUid: preceding, ...metadata };
      case CHANGE_TYPE.deleted: {
        const target = { versionedObjectUid, precedingVersionUid: preceding };
        return { kind: 'delete', ...target, staleCode: 'conflict', ...metadata };
      }
      default:
        return this.#update(version, preceding, metadata);
    }
  }

  async #creation(version: VersionEnvelope, metadata: VersionMetadata): Promise<VersionEntry> {
    const type = this.#requireType(version.data);
    if (type === 'EHR_STATUS')
      throw new CdrError('conflict', 'EHR_STATUS cannot be created by a CONTRIBUTION');
    const entry =
      type === 'FOLDER'
        ? newFolder(this.#context, metadata, validatedFolder(withExpectedUid(version), metadata.findings))
        : await newComposition(this.#context, metadata, await this.#newComposition(version));
    this.#earlier.set(entry.versionedObjectUid, {
      templateId: entry.composition?.templateId,
      object: entry.object,
    });
    return entry;
  }

  async #update(
    version: VersionEnvelope,
    preceding: string,
    metadata: VersionMetadata,
  ): Promise<VersionEntry> {
    const type = this.#requireType(version.data);
    const versionedObjectUid = rootOfUid(preceding);
    const templateId = this.#knownTemplate(versionedObjectUid, type);
    const entry = await this.#validatedUpdate(
      version.data ?? null,
      { type, versionedObjectUid, templateId, preceding },
      metadata,
    );
    const object = 'object' in entry ? entry.object : null;
    this.#earlier.set(versionedObjectUid, { templateId, object });
    return entry;
  }

  async #validatedUpdate(
    data: JsonValue,
    target: UpdateTarget,
    metadata: VersionMetadata,
  ): Promise<VersionEntry> {
    const { type, versionedObjectUid, preceding, templateId } = target;
    if (type === 'COMPOSITION') {
      const container = {
        _id: versionedObjectUid,
        ...(templateId !== undefined && { template_id: templateId }),
      };
      const followed = { container, metadata, precedingVersionUid: preceding };
      return nextComposition(this.#context, followed, await this.#composition(data, metadata.findings));
    }
    const object =
      type === 'FOLDER'
        ? validatedFolder(data, metadata.findings)
        : nextEhrStatus(data, await this.#previousStatus(versionedObjectUid, preceding), {
            asSent: DIALECTS[this.#context.settings.itsRest].isStatusTakenAsSent,
            findings: metadata.findings,
          });
    const given = isJsonObject(data) ? data : object;
    if (type === 'FOLDER') requireSameObject(given, versionedObjectUid);
    else warnOfStatus(this.#context, given, versionedObjectUid);
    return { kind: 'update', type, versionedObjectUid, precedingVersionUid: preceding, object, ...metadata };
  }

  /** Template of the container now. @throws not-found when neither database nor earlier entries have it */
  #knownTemplate(versionedObjectUid: string, type: RootType): string | undefined {
    const earlier = this.#earlier.get(versionedObjectUid);
    if (earlier !== undefined) return earlier.templateId;
    const container = this.#containers.get(versionedObjectUid);
    if (container?.ehr_id !== this.#ehrId || container.type !== type)
      throw objectNotFound(this.#ehrId, type, versionedObjectUid);
    return container.template_id;
  }

  /** What is in a simplified form has no `_type`. */
  #requireType(data: JsonValue | undefined): RootType {
    const isSimplified =
      this.#context.readSimplified !== undefined && isJsonObject(data) && data._type === undefined;
    return isSimplified ? 'COMPOSITION' : requireType(data);
  }

  /** The COMPOSITION of a creation, with the uid that stands beside it. */
  async #newComposition(version: VersionEnvelope): Promise<PartialRm<'COMPOSITION'> | LargeComposition> {
    const { data = null, expectedUid, findings } = version;
    if (this.#context.readSimplified === undefined)
      return this.#composition(withExpectedUid(version), findings);
    const content = await this.#composition(data, findings);
    const root = content instanceof LargeComposition ? content.root : content;
    if (expectedUid !== undefined) root.uid ??= { _type: 'OBJECT_VERSION_ID', value: expectedUid };
    return content;
  }

  async #composition(
    data: JsonValue,
    findings?: AcceptedFinding[],
  ): Promise<PartialRm<'COMPOSITION'> | LargeComposition> {
    const { readSimplified } = this.#context;
    if (readSimplified !== undefined && isJsonObject(data)) return readSimplified(data);
    const json = JSON.stringify(data);
    const large = await this.#context.readLarge?.({ json, leavesOut: findings !== undefined });
    if (large === null || large === undefined) return readObject(data, 'COMPOSITION', findings);
    if (findings !== undefined) for (const finding of large.leftOut) accept(findings, finding);
    return large;
  }

  async #previousStatus(versionedObjectUid: string, preceding: string): Promise<JsonObject> {
    const earlier = this.#earlier.get(versionedObjectUid)?.object;
    if (earlier !== undefined && earlier !== null) return earlier;
    const version = await versionById(this.#ehrId, 'EHR_STATUS', preceding);
    return version === null ? {} : storedStatus(version);
  }
}

interface UpdateTarget {
  readonly type: RootType;
  readonly versionedObjectUid: string;
  readonly preceding: string;
  readonly templateId: string | undefined;
}

function requireType(data: JsonValue | undefined): RootType {
  const type = rootTypeOf(data);
  if (type !== null) return type;
  throw new CdrError('invalid', `data must be one of ${TYPES.join(', ')}, with its _type`);
}
