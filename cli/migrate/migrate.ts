import { InterchangeImport, type RestoreTarget } from '../../maintenance/interchange/import.js';
import { noteCause } from '../transfer/import-causes.js';
import { isJsonObject, jsonObjectOf } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { textAt } from '../../openehr/rm/access.js';
import { answerError, AnswerError, type ApiClient } from '../transfer/api-client.js';
import type { FailedRecord } from '../transfer/import-progress.js';
import type { SourceRecord } from '../transfer/import-source.js';
import { placeOf, restorePart } from '../transfer/restore-run.js';
import type { TextLine } from '../transfer/restore-remote.js';
import { moveDirectory } from './directory.js';
import type { OldServer } from './old-server.js';
import { oldLines, type Judge } from './old-lines.js';
import type { OldDefinitions } from './read-definitions.js';
import { tagsLine, type OldTagTarget } from './old-tags.js';
import { idsIn, numberIn } from './old-version.js';
import { readOldEhr, type OldEhr } from './read-ehr.js';
import type { MigrationState } from './state.js';

/** How a migration is carried out. */
interface MigrationPlan {
  readonly server: OldServer;
  readonly definitions: OldDefinitions;
  readonly target: RestoreTarget<TextLine>;
  /** Of the new server: directories are committed there. */
  readonly client: ApiClient;
  readonly judge: Judge;
  /** true: what the rules refuse is kept, marked. */
  readonly isLenient: boolean;
  /** EHRs read at once. */
  readonly parallel: number;
  readonly state: MigrationState;
  /** Called after some EHRs. */
  readonly save: (failed: readonly FailedRecord[]) => void;
  /** Called after each EHR. */
  readonly onEhr: () => void;
}

/** Lines of what is missing that are kept. */
const KEPT = 20;
/** EHRs for each that is read at once, after which the state is saved. */
const PER_LANE = 8;

/** Moves definitions, then EHRs in the order of their ids. `ehrIds`: sorted. @throws AnswerError when a server cannot be asked */
export async function migrate(plan: MigrationPlan, ehrIds: readonly string[]): Promise<void> {
  const { state, parallel } = plan;
  const refused = new Set(state.refusedEhrs);
  const run = new InterchangeImport(plan.target, { parallel: 1 }, refused);
  plan.save(await moveDefinitions(plan, run));
  const open = ehrIds.filter((ehrId) => ehrId > (state.after ?? ''));
  for (let start = 0; start < open.length; start += parallel * PER_LANE) {
    const some = open.slice(start, start + parallel * PER_LANE);
    const failed: FailedRecord[] = [];
    const left = [...some];
    const lane = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        failed.push(...(await moveEhr(plan, run, next)));
        plan.onEhr();
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, some.length) }, lane));
    state.after = some.at(-1) ?? state.after ?? '';
    state.refusedEhrs = [...refused];
    plan.save(failed);
  }
}

async function moveDefinitions(
  { definitions, state }: MigrationPlan,
  run: InterchangeImport<TextLine>,
): Promise<FailedRecord[]> {
  const lines: string[] = [];
  for await (const template of definitions.templates()) lines.push(...template.lines);
  lines.push(...(await definitions.queries()));
  return restored(state, run, lines);
}

async function moveEhr(
  plan: MigrationPlan,
  run: InterchangeImport<TextLine>,
  ehrId: string,
): Promise<FailedRecord[]> {
  const { state } = plan;
  const old = await readOldEhr(plan.server, ehrId, await compositionsHere(plan.client, ehrId));
  // Somebody erased it meanwhile.
  if (old === null) return [];
  state.ehrs = (state.ehrs ?? 0) + 1;
  noteMissing(state, old);
  const refused = refusalsOf(plan, old);
  const failed = refused.length > 0 ? noted(state, refused) : await restored(state, run, oldLines(old, plan));
  if (failed.length > 0) return failed;
  if (!old.hasDirectories && old.directory !== null)
    failed.push(...(await movedDirectory(plan, ehrId, old.directory)));
  // A step of their own: what cannot follow of them holds nothing else back.
  const tags = old.tags.of === 'none' ? null : tagsLine(ehrId, old.tags, await tagsHere(plan.client, old));
  return tags === null ? failed : [...failed, ...(await restored(state, run, [tags]))];
}

/** What has item tags here, of what was read there. */
async function tagsHere(client: ApiClient, { ehrId, versions }: OldEhr): Promise<OldTagTarget[]> {
  const { status, text } = await client.send('GET', `/ehr/${ehrId}/tags`);
  if (status !== 200) throw answerError(status, text);
  const types = new Map(versions.map(({ uid, type }) => [rootOfUid(uid), type]));
  const listed: unknown = JSON.parse(text);
  return (Array.isArray(listed) ? listed : []).filter(isJsonObject).flatMap((tag) => {
    const uid = textAt(tag, 'target', 'value') ?? '';
    const type = types.get(rootOfUid(uid));
    if (type === undefined) return [];
    return [{ target: rootOfUid(uid), target_type: type, target_version: numberIn(uid) || null }];
  });
}

/** Object ids of COMPOSITIONs that an earlier pass has brought: whether they were deleted since, nothing else may tell. */
async function compositionsHere(client: ApiClient, ehrId: string): Promise<string[]> {
  const { status, text } = await client.send('GET', `/ehr/${ehrId}?include=compositions`);
  if (status === 404) return [];
  if (status >= 300) throw answerError(status, text);
  return idsIn(jsonObjectOf(text), 'compositions').map(rootOfUid);
}

/** Why an EHR stays where it is, whole: it does not hang together, or without leniency for content that breaks rules. */
function refusalsOf(
  { judge, isLenient }: MigrationPlan,
  { ehrId, versions, isChanging }: OldEhr,
): FailedRecord[] {
  const message = 'the EHR was changed each time that it was read; the next pass reads it again';
  if (isChanging) return [{ ehr_id: ehrId, status: 409, message }];
  if (isLenient) return [];
  return versions.flatMap((version) => {
    const [first, ...more] = judge(version);
    if (first === undefined) return [];
    const further = more.length === 0 ? '' : ` (and ${more.length} more)`;
    const message = `${first.path}: ${first.message}${further}; --lenient keeps it, marked`;
    return [{ ehr_id: ehrId, uid: version.uid, status: 422, message }];
  });
}

async function movedDirectory(
  { client, state }: MigrationPlan,
  ehrId: string,
  directory: NonNullable<OldEhr['directory']>,
): Promise<FailedRecord[]> {
  try {
    if ((await moveDirectory(client, ehrId, directory)) === 'committed')
      state.directories = (state.directories ?? 0) + 1;
    return [];
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status === 0) throw error;
    const message = `the directory is refused: ${error.message}`;
    return noted(state, [{ ehr_id: ehrId, status: error.status, message }]);
  }
}

function noted(state: MigrationState, failed: FailedRecord[]): FailedRecord[] {
  state.failed += failed.length;
  for (const record of failed) noteCause(state.causes, record);
  return failed;
}

function noteMissing(state: MigrationState, { missing, isListed, withoutCommitter }: OldEhr): void {
  if (!isListed) state.unlisted = (state.unlisted ?? 0) + 1;
  state.withoutCommitter = (state.withoutCommitter ?? 0) + withoutCommitter;
  state.missing = (state.missing ?? 0) + missing.length;
  const kept = (state.firstMissing ??= []);
  kept.push(...missing.slice(0, KEPT - kept.length));
}

/** Restores lines, which have no numbers for whoever reads of them. @throws CdrError, AnswerError of what writes */
function restored(
  state: MigrationState,
  run: InterchangeImport<TextLine>,
  lines: readonly string[],
): Promise<FailedRecord[]> {
  const part = lines.map((text, index): SourceRecord => {
    return { position: index + 1, file: null, text, size: text.length + 1, ehrId: null };
  });
  return restorePart(state, run, part, (position, text) => {
    const { ehr_id, uid } = placeOf(position, text);
    return { ...(ehr_id !== undefined && { ehr_id }), ...(uid !== undefined && { uid }) };
  });
}
