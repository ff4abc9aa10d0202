import type { JsonObject } from '../../../openehr/base/json.js';
import { ANY, COUNT, FLAG, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';

const MERGE_WORDS = {
  detail_level: word('BASIC', 'FOLDER_COPY'),
  folder_merge: word('BASIC', 'COPY'),
  composition_merge: word('BASIC', 'PERSISTENT'),
} as const;

const MERGE_MOTIVE = {
  reason: { type: 'string', maxLength: 500 },
  requested_by: { type: 'string', maxLength: 200 },
} as const;

/** Either a word or a map, which is no union here: what generators make of one in Java does not compile. */
const ON_CONFLICT: JsonObject = {
  description:
    '`keep_in_target` or `take_back` for all obstacles, or an object with one of them for each by an object id or CONTRIBUTION uid of it',
};

const DISTINCT = { ehr_id: TEXT, other_ehr_id: TEXT, reason: TEXT, said_by: TEXT, said_at: TIME };

const SIDE = word('source', 'target');
const RESOLUTIONS: JsonObject = {
  ...object(
    {
      compositions: {
        type: 'object',
        description: 'By template id, or by object id of either composition of a pair',
        additionalProperties: word('source', 'target', 'both'),
      },
      ehr_status: object({ subject: SIDE, is_queryable: SIDE, is_modifiable: SIDE, other_details: SIDE }, []),
    },
    [],
  ),
  description: 'What survives: docs/spec/merge.md#resolutions',
};

/** Schemas of the administration API. */
export const ADMIN_SCHEMAS = {
  AdminStatusResponseData: object({ message: TEXT }),
  AdminDeleteResponseData: object({ deleted: COUNT }),
  AdminUpdateResponseData: object({ updated: COUNT }),
  MergeRequestBody: object(
    {
      source_ehr: UUID,
      target_ehr: UUID,
      reversible: FLAG,
      ...MERGE_WORDS,
      dry_run: { type: 'boolean', default: false },
      resolutions: RESOLUTIONS,
      ...MERGE_MOTIVE,
    },
    ['source_ehr', 'target_ehr', 'reversible'],
  ),
  UnmergeRequestBody: object(
    { source_ehr: UUID, target_ehr: UUID, dry_run: FLAG, on_conflict: ON_CONFLICT, ...MERGE_MOTIVE },
    ['source_ehr', 'target_ehr'],
  ),
  ConfirmMergeBody: object({ digest: TEXT, dry_run: { type: 'boolean', default: false } }, []),
  WithdrawMergeBody: object({ reason: MERGE_MOTIVE.reason }, []),
  MergeDetailsDto: object(
    {
      source_ehr: UUID,
      target_ehr: UUID,
      merge_id: UUID,
      merge_date: TIME,
      outcome: ANY,
      way: { enum: ['transaction', 'steps'] },
      reversible_now: FLAG,
      reasons: listOf(TEXT),
      obstacles: listOf(ANY),
      finalised: object({ date: TIME, committer: TEXT, reason: TEXT }),
      plan: { ...ANY, description: 'What the merge does: docs/spec/merge.md#plan' },
      unmerge_data: ANY,
      state: word('pending'),
      requested: ANY,
      expires: TIME,
      request: ANY,
      plan_digest: TEXT,
      undone: ANY,
      ...MERGE_MOTIVE,
    },
    ['source_ehr', 'target_ehr', 'outcome'],
  ),
  FinaliseRequestBody: object({ reason: { type: 'string', minLength: 1, maxLength: 500 } }, ['reason']),
  MoveRequestBody: object(
    {
      target_ehr: UUID,
      reason: { type: 'string', maxLength: 500 },
      dry_run: { type: 'boolean', default: false },
    },
    ['target_ehr'],
  ),
  MoveDetailsDto: object(
    {
      source_ehr: UUID,
      target_ehr: UUID,
      composition: UUID,
      versions: COUNT,
      contributions: COUNT,
      contributions_kept: listOf(UUID),
      contributions_made: listOf(UUID),
      item_tags: COUNT,
      folder_items: listOf(object({ folder: TEXT, item: TEXT }, ['folder', 'item'])),
      dry_run: FLAG,
      reason: TEXT,
    },
    ['versions', 'contributions', 'folder_items'],
  ),
  StatisticsDto: object(
    {
      counts: object({ contributions: COUNT, versioned_compositions: COUNT, versions: COUNT }),
      list: listOf(object({ uid: TEXT, ehr_id: TEXT, time: TIME })),
    },
    ['counts'],
  ),
  EhrListDto: object({ ehrs: listOf(ref('ListedEhr')), next: TEXT }, ['ehrs']),
  MergeCandidatesDto: object(
    {
      candidates: listOf(
        object(
          {
            ehr_id: TEXT,
            other_ehr_id: TEXT,
            score: { type: 'number', minimum: 0, maximum: 1 },
            reasons: listOf(
              object(
                {
                  code: word('subject_id', 'identifier', 'path'),
                  value: TEXT,
                  shared_by: COUNT,
                  namespaces: listOf(TEXT),
                  issuer: TEXT,
                  type: TEXT,
                  path: TEXT,
                },
                ['code', 'value', 'shared_by'],
              ),
            ),
            against: listOf(object({ code: word('different_subjects'), namespace: TEXT }, ['code'])),
            pending: listOf(object({ merge_id: UUID, source_ehr: UUID, target_ehr: UUID }, ['merge_id'])),
          },
          ['ehr_id', 'other_ehr_id', 'score', 'reasons'],
        ),
      ),
      no_evidence: listOf(
        object({ code: word('subject_id', 'identifier', 'path'), value: TEXT, path: TEXT }, [
          'code',
          'value',
        ]),
      ),
      examined_ehrs: COUNT,
      next: TEXT,
      incomplete: listOf(TEXT),
    },
    ['candidates', 'no_evidence'],
  ),
  DistinctBody: object({ reason: TEXT }, ['reason']),
  DistinctPersons: object(DISTINCT, ['ehr_id', 'other_ehr_id']),
  DistinctPersonsList: object({ distinct: listOf(object(DISTINCT, Object.keys(DISTINCT))) }, ['distinct']),
  QueryOwnerBody: object({ sub: TEXT, issuer: TEXT }, ['sub']),
  QueryOwner: object({ name_space: TEXT, sub: TEXT, issuer: TEXT, since: TIME }, ['name_space']),
  ApprovalDto: object(
    {
      approval_id: UUID,
      kind: word('merge', 'move', 'erase', 'finalise', 'policy'),
      operation: TEXT,
      state: word('pending', 'done', 'withdrawn'),
      summary: TEXT,
      ehr_ids: listOf(UUID),
      object_id: UUID,
      policy_id: { ...TEXT, description: 'Of a policy of access' },
      reason: TEXT,
      requested_by: { ...TEXT, description: 'On whose behalf' },
      requested: object({ date: TIME, administrator: TEXT }),
      expires: TIME,
      plan: { ...ANY, description: 'What it does, with its digest: docs/spec/merge.md#approval' },
      result: { ...ANY, description: 'What came of it, once it is confirmed' },
    },
    ['summary', 'ehr_ids'],
  ),
  ApprovalList: listOf(ref('ApprovalDto')),
  MergeDetailsList: listOf(ref('MergeDetailsDto')),
  SealHead: object(
    { head: TEXT, block: COUNT, hash: TEXT, time: TIME, records: COUNT, unsealed: COUNT, pending: COUNT },
    ['head', 'block', 'hash', 'records', 'unsealed', 'pending'],
  ),
  KnownUser: object({ name: TEXT, roles: listOf(TEXT) }),
  UserBody: object(
    {
      roles: { ...listOf(TEXT), minItems: 1 },
      password: { ...TEXT, description: 'Of a new user, or another one; absent: as it is' },
      person: { ...TEXT, description: "`sub` of the same person's tokens; absent: as it is" },
    },
    ['roles'],
  ),
  PermissionsReport: object({
    user: {
      type: ['object', 'null'],
      properties: { name: TEXT, roles: listOf(TEXT), permissions: listOf(TEXT) },
      description: 'Who asks',
    },
    roles: listOf(object({ role: TEXT, permissions: listOf(TEXT) })),
    users: {
      type: ['array', 'null'],
      items: ref('KnownUser'),
      description: 'Users of BASIC_USERS_FILE; null: Basic authentication is off',
    },
  }),
  InterchangeLines: {
    type: 'string',
    contentMediaType: 'application/x-ndjson',
    description: 'Lines of an export of all versions; those before and after them may be in other requests',
  },
  ExtractImport: object({ ehr_id: TEXT, import_id: UUID, contributions: COUNT, versions: COUNT }),
  ExtractPlan: object(
    {
      ehr_id: TEXT,
      contributions: COUNT,
      versions: COUNT,
      import_id: { ...UUID, description: 'It is done, and taken back by this' },
      dry_run: { ...FLAG, description: 'true: nothing is done, and all below is there' },
      hash: TEXT,
      adds: listOf(object({ uid: TEXT, type: TEXT })),
      already_there: listOf(TEXT),
      left_out: listOf(
        object({ object_id: UUID, type: TEXT, reason: word('own_ehr_status', 'own_directory') }),
      ),
      obstacles: listOf(object({ code: TEXT, message: TEXT, object_ids: listOf(TEXT) })),
    },
    ['ehr_id', 'contributions', 'versions'],
  ),
  ExtractUndone: object({
    ehr_id: TEXT,
    import_id: UUID,
    erased: { ...FLAG, description: 'The EHR was made by the import, and is gone' },
    contributions: COUNT,
    versions: COUNT,
  }),
  RestoreReport: object({
    batch: UUID,
    imported: COUNT,
    unchanged: { ...listOf(COUNT), description: 'Numbers of the lines that are there already, from 1' },
    failed: listOf(
      object({ line: COUNT, ehr_id: TEXT, status: COUNT, message: TEXT }, ['line', 'status', 'message']),
    ),
  }),
  VerifyReport: object({
    checked: { type: 'object', additionalProperties: COUNT },
    violations: listOf(object({ kind: TEXT, id: TEXT, message: TEXT })),
    erased: listOf(ANY),
    unrecorded: listOf(object({ id: TEXT, message: TEXT })),
    accepted: listOf(ANY),
    acceptedVersions: COUNT,
    seal: { type: ['object', 'null'], additionalProperties: true },
  }),
} as const satisfies Readonly<Record<string, JsonObject>>;
