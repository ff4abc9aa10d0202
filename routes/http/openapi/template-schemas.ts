import type { JsonObject } from '../../../openehr/base/json.js';
import { ANY, COUNT, FLAG, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';

const CAUSES = listOf(object({ path: TEXT, message: TEXT, count: COUNT, examples: listOf(TEXT) }));

/** Schemas of what the administration does with templates: their revisions, differences and upgrades. */
export const TEMPLATE_SCHEMAS = {
  TwoRevisions: {
    ...object({ from: TEXT, to: TEXT }, []),
    description: 'Numbers or digests; absent: the newest',
  },
  UploadedRevision: object({ template_id: TEXT, revision: TEXT, digest: TEXT }),
  TemplateRevisionList: listOf(
    object(
      {
        revision: TEXT,
        digest: TEXT,
        uploaded_at: TIME,
        uploaded_by: TEXT,
        bytes: COUNT,
        compositions: COUNT,
        versions: COUNT,
      },
      ['revision', 'digest', 'uploaded_at', 'bytes', 'compositions', 'versions'],
    ),
  ),
  TemplateUpgradeBody: object(
    {
      from: {
        ...TEXT,
        description: 'Number or digest of the revision whose data are upgraded; absent: the one before',
      },
      rules: { ...listOf(ANY), description: 'docs/spec/formats.md#rules-of-an-upgrade' },
      rewrite: { type: 'boolean', default: false },
      hash: { ...TEXT, description: 'Of the plan; needed to begin' },
    },
    ['rules'],
  ),
  TemplateUpgradePlan: object({
    hash: TEXT,
    from: TEXT,
    to: TEXT,
    valid: COUNT,
    mappable: COUNT,
    invalid: COUNT,
    unproven: COUNT,
    others: COUNT,
    causes: CAUSES,
    examples: listOf(object({ uid: TEXT, before: ANY, after: ANY })),
  }),
  TemplateUpgradeJob: object({ job: UUID }),
  TemplateUpgradeList: listOf(ref('TemplateUpgrade')),
  TemplateUpgrade: object(
    {
      job: UUID,
      template_id: TEXT,
      state: word('running', 'paused', 'done', 'undoing', 'undone'),
      reason: TEXT,
      from: object({ revision: TEXT, digest: TEXT }),
      to: object({ revision: TEXT, digest: TEXT }),
      rewrite: FLAG,
      started_at: TIME,
      started_by: TEXT,
      finished_at: TIME,
      upgraded: COUNT,
      undone: COUNT,
      left: COUNT,
      left_ones: listOf(object({ ehr_id: TEXT, uid: TEXT, reason: TEXT })),
    },
    ['job', 'template_id', 'state', 'upgraded', 'undone', 'left', 'left_ones'],
  ),
  TemplateComparisonList: listOf(ref('TemplateComparison')),
  TemplateComparison: object(
    {
      job: UUID,
      template_id: TEXT,
      data: word('sample', 'all'),
      state: word('running', 'stopped', 'done', 'cancelled'),
      reason: TEXT,
      from: {
        ...object({ revision: TEXT, digest: TEXT }),
        description: 'Whose data are judged; absent: those of all revisions',
      },
      to: {
        ...object({ revision: TEXT, digest: TEXT }, ['digest']),
        description: 'What they are judged by; without `revision` a template that is not stored',
      },
      started_at: TIME,
      started_by: TEXT,
      finished_at: TIME,
      valid: COUNT,
      invalid: COUNT,
      unproven: { ...COUNT, description: 'Of the valid ones: a terminology server has to be asked' },
      others: { ...COUNT, description: 'Of other revisions than `from`' },
      causes: CAUSES,
    },
    ['job', 'template_id', 'data', 'state', 'to', 'valid', 'invalid', 'unproven', 'others', 'causes'],
  ),
  TemplateDifference: object(
    {
      verdict: word('same', 'text', 'minor', 'breaking'),
      changes: listOf(
        object(
          {
            path: TEXT,
            kind: word('added', 'removed', 'moved', 'renamed', 'widened', 'narrowed', 'changed'),
            what: TEXT,
            verdict: word('text', 'minor', 'unproven', 'breaking'),
            from: { description: 'What the earlier template says, null where it says nothing' },
            to: { description: 'What the later one says' },
            reason: TEXT,
            example: { description: 'Accepted before and refused now' },
          },
          ['path', 'kind', 'what', 'verdict', 'reason'],
        ),
      ),
      stored_queries: {
        ...listOf(object({ name: TEXT, version: TEXT, paths: listOf(TEXT) })),
        description: 'Those that read something else than before',
      },
      data: { ...object({ job: UUID }), description: 'The comparison of stored data that has begun' },
    },
    ['verdict', 'changes', 'stored_queries'],
  ),
} as const satisfies Readonly<Record<string, JsonObject>>;
