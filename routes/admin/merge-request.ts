import Joi from 'joi';
import type { Context } from 'koa';
import { changeContext } from '../../change/commit/context.js';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { isUuid } from '../../openehr/base/object-version-id.js';
import {
  STATUS_FIELDS,
  type ConflictChoice,
  type MergeContext,
  type MergeRequest,
  type MergeResolutions,
  type OnConflict,
  type PairChoice,
  type Side,
  type UnmergeRequest,
} from '../../merge/request.js';
import { bodyOf, bodyText } from '../http/exchange.js';
import type { BodyDescription } from '../http/operation/operation.js';
import { setFailureRecord } from '../http/failure/error-status.js';

/** Name of the record that every merge operation answers. */
export const MERGE_DETAILS = 'MergeDetailsDto';

/** Body of an answer that is that record. */
export const MERGE_ANSWER: BodyDescription = { schema: MERGE_DETAILS, types: 'rm' };

/** What merges and moves need of the settings. */
export function mergeContext(settings: Settings): MergeContext {
  return {
    change: changeContext(settings),
    retries: settings.mergeRetries,
    stepsFrom: settings.mergeStepsFrom,
  };
}

/** The two EHRs that an error body repeats. */
export interface NamedPair {
  readonly source: string;
  readonly target: string;
}

/** MergeDetailsDto with neutral values: what an error body begins with. docs/spec/rest.md#error-body */
function neutralDetails({ source, target }: NamedPair): (message: string) => JsonObject {
  return (summary) => ({ source_ehr: source, target_ehr: target, outcome: { level: 'BASIC', summary } });
}

/** What an error of a merge operation repeats before its EHRs are known. */
export const MERGE_FAILURE = { root: MERGE_DETAILS, fields: neutralDetails({ source: '', target: '' }) };

/** From now on an error repeats these EHR ids. */
export function namePair(ctx: Context, pair: NamedPair): void {
  setFailureRecord(ctx, { root: MERGE_DETAILS, fields: neutralDetails(pair) });
}

/** Characters of a reason, and of who asked for it. */
const MAX_REASON = 500;
const MAX_NAME = 200;

/** The id of an EHR in a body. */
export const uuid = Joi.string()
  .custom((text: string, helpers) => (isUuid(text) ? text.toLowerCase() : helpers.error('any.uuid')))
  .messages({ 'any.uuid': '{{#label}} must be a UUID' })
  .required();
const line = (length: number): Joi.StringSchema => Joi.string().trim().max(length);
/** Why, in the administrator's words. */
export const reason = line(MAX_REASON);
const pair = {
  source_ehr: uuid,
  target_ehr: uuid,
  dry_run: Joi.boolean().strict().default(false),
  reason,
  requested_by: line(MAX_NAME),
};

/** Choices in one body. */
const MAX_CHOICES = 1_000;
/** A template id or the id of an object: the audit keeps it as the name of a field, which cannot hold NUL. */
const choiceKey = Joi.string()
  .max(MAX_NAME)
  .pattern(/^\P{Cc}+$/u);

interface PairBody {
  readonly source_ehr: string;
  readonly target_ehr: string;
  readonly dry_run: boolean;
  readonly reason?: string;
  readonly requested_by?: string;
}

interface UnmergeBody extends PairBody {
  /** One choice for all, or by object id or CONTRIBUTION uid. */
  readonly on_conflict?: ConflictChoice | Readonly<Record<string, ConflictChoice>>;
}

interface MergeBody extends PairBody {
  readonly reversible: boolean;
  readonly detail_level?: 'BASIC' | 'FOLDER_COPY';
  readonly folder_merge?: 'BASIC' | 'COPY';
  readonly composition_merge: 'BASIC' | 'PERSISTENT';
  readonly resolutions?: {
    readonly compositions?: Readonly<Record<string, PairChoice>>;
    readonly ehr_status?: Readonly<Partial<Record<(typeof STATUS_FIELDS)[number], Side>>>;
  };
}

const choice = Joi.string().valid('keep_in_target', 'take_back');
const unmergeSchema = Joi.object<UnmergeBody>({
  ...pair,
  on_conflict: Joi.alternatives(choice, Joi.object().pattern(uuid, choice).max(MAX_CHOICES)),
});
const mergeSchema = Joi.object<MergeBody>({
  ...pair,
  reversible: Joi.boolean().strict().required(),
  detail_level: Joi.string().valid('BASIC', 'FOLDER_COPY'),
  folder_merge: Joi.string().valid('BASIC', 'COPY'),
  composition_merge: Joi.string().valid('BASIC', 'PERSISTENT').default('BASIC'),
  resolutions: Joi.object({
    compositions: Joi.object()
      .pattern(choiceKey, Joi.string().valid('source', 'target', 'both'))
      .max(MAX_CHOICES),
    ehr_status: Joi.object(
      Object.fromEntries(STATUS_FIELDS.map((field) => [field, Joi.string().valid('source', 'target')])),
    ),
  }),
});

/** MergeRequestBody of a request. @throws unsupported-media-type; invalid */
export function mergeRequestFrom(ctx: Context): MergeRequest {
  const body = readBody(ctx, mergeSchema);
  return {
    ...requestOf(ctx, body),
    reversible: body.reversible,
    folderMerge: folderMergeOf(body),
    compositionMerge: body.composition_merge,
    resolutions: resolutionsOf(body),
  };
}

/** Ids in lower case; template ids as they are. @throws invalid when an id stands for two words, once in capitals */
function choicesOf<W extends string>(named: Readonly<Record<string, W>>): ReadonlyMap<string, W> {
  const choices = new Map<string, W>();
  for (const [name, word] of Object.entries(named)) {
    const key = isUuid(name) ? name.toLowerCase() : name;
    if ((choices.get(key) ?? word) !== word)
      throw new CdrError('invalid', `${key} is named twice, with different choices`);
    choices.set(key, word);
  }
  return choices;
}

function resolutionsOf({ resolutions = {}, composition_merge: mode }: MergeBody): MergeResolutions {
  const { compositions = {}, ehr_status: ehrStatus = {} } = resolutions;
  const chosen = choicesOf(compositions);
  if (chosen.size > 0 && mode !== 'PERSISTENT')
    throw new CdrError('invalid', 'resolutions of compositions need composition_merge PERSISTENT');
  return {
    compositions: chosen,
    ehrStatus: new Map(
      STATUS_FIELDS.flatMap((field) => {
        const side = ehrStatus[field];
        return side === undefined ? [] : [[field, side] as const];
      }),
    ),
  };
}

/** The body of an unmerge. @throws as `mergeRequestFrom` */
export function unmergeRequestFrom(ctx: Context): UnmergeRequest {
  const body = readBody(ctx, unmergeSchema);
  return { ...requestOf(ctx, body), onConflict: onConflictOf(body.on_conflict) };
}

interface ConfirmBody {
  readonly digest?: string;
  readonly dry_run: boolean;
}

const confirmSchema = Joi.object<ConfirmBody>({
  digest: Joi.string().hex().length(64).lowercase(),
  dry_run: pair.dry_run,
});
const withdrawSchema = Joi.object<{ readonly reason?: string }>({ reason: pair.reason });

/** The body of a confirmation, which may be missing. @throws as `mergeRequestFrom` */
export function confirmRequestFrom(ctx: Context): {
  readonly digest: string | null;
  readonly dryRun: boolean;
} {
  if (bodyText(ctx) === null) return { digest: null, dryRun: false };
  const { digest = null, dry_run: dryRun } = readBody(ctx, confirmSchema);
  return { digest, dryRun };
}

/** The body of a withdrawal, which may be missing. @throws as `mergeRequestFrom` */
export function withdrawRequestFrom(ctx: Context): { readonly reason?: string } {
  return bodyText(ctx) === null ? {} : readBody(ctx, withdrawSchema);
}

function onConflictOf(given: UnmergeBody['on_conflict']): OnConflict {
  if (given === undefined || typeof given === 'string') return given ?? null;
  return choicesOf(given);
}

function requestOf(ctx: Context, body: PairBody): Omit<UnmergeRequest, 'onConflict'> {
  const { source_ehr: sourceEhr, target_ehr: targetEhr, dry_run: dryRun } = body;
  if (sourceEhr === targetEhr) throw new CdrError('invalid', 'source_ehr and target_ehr must be different');
  const { reason, requested_by } = body;
  const motive = {
    ...(reason !== undefined && { reason }),
    ...(requested_by !== undefined && { requested_by }),
  };
  return { sourceEhr, targetEhr, dryRun, committer: ctx.state.user?.name ?? 'anonymous', motive };
}

/** `detail_level` is a preset of `folder_merge`; both may be given when they agree. */
function folderMergeOf(body: MergeBody): MergeRequest['folderMerge'] {
  const preset = body.detail_level === 'FOLDER_COPY' ? 'COPY' : 'BASIC';
  const { folder_merge: given = preset } = body;
  if (body.detail_level !== undefined && given !== preset)
    throw new CdrError('invalid', `detail_level ${body.detail_level} contradicts folder_merge ${given}`);
  return given;
}

function readBody<T>(ctx: Context, schema: Joi.ObjectSchema<T>): T {
  return bodyOf(ctx, schema, (body) => {
    namePair(ctx, { source: stringOrEmpty(body.source_ehr), target: stringOrEmpty(body.target_ehr) });
  });
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
