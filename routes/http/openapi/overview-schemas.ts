import type { JsonObject } from '../../../openehr/base/json.js';
import { COUNT, FLAG, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';

/** How the server does, on one page. */
export const OVERVIEW_SCHEMAS = {
  Overview: object({
    status: word('UP', 'DOWN'),
    version: TEXT,
    system_id: TEXT,
    started: TIME,
    database: object(
      {
        version: TEXT,
        bytes: { ...COUNT, description: 'What it takes of its disk; absent: it could not be asked' },
        disk: {
          type: ['object', 'null'],
          properties: { used: COUNT, bytes: COUNT },
          description: 'The whole disk; null: the database does not say',
        },
      },
      ['version'],
    ),
    user: {
      type: ['object', 'null'],
      properties: {
        name: TEXT,
        permissions: listOf(TEXT),
        ehr_id: { ...UUID, description: "The record of a patient's own token" },
      },
      description: 'Who asks; null with `AUTH=none`',
    },
    counts: object(
      {
        ehrs: COUNT,
        compositions: COUNT,
        compositions_exact: FLAG,
        templates: COUNT,
        stored_queries: COUNT,
      },
      ['templates', 'stored_queries'],
    ),
    activity: object({
      minutes: listOf(object({ time: TIME, commits: COUNT, queries: COUNT })),
      commit_ms: ref('OverviewTimes'),
      query_ms: ref('OverviewTimes'),
      day: listOf(
        object({
          time: TIME,
          requests: COUNT,
          errors: COUNT,
          refused_sign_ins: COUNT,
          median: { type: ['number', 'null'] },
          p95: { type: ['number', 'null'] },
        }),
      ),
      waiting_queries: { ...COUNT, description: 'That wait for a place now' },
    }),
    verified: {
      type: ['object', 'null'],
      properties: { time: TIME, violations: COUNT },
      description: 'The check of all that is stored which ended last; null: none did',
    },
    slowest_queries: listOf(
      object({ time: TIME, aql: TEXT, ms: { type: 'number' }, rows: COUNT }, ['time', 'aql', 'ms']),
    ),
    ignored: listOf(object({ kind: TEXT, name: TEXT, count: COUNT })),
    contributions: listOf(
      object({
        uid: UUID,
        ehr_id: TEXT,
        time_committed: TIME,
        committer: TEXT,
        change_type: TEXT,
        versions: listOf(object({ uid: TEXT, type: TEXT })),
      }),
    ),
    jobs: listOf(
      object(
        {
          kind: word(
            ...['verify', 'reindex', 'upgrade', 'template_upgrade', 'template_comparison'],
            ...['merge', 'unmerge', 'erase'],
          ),
          started: TIME,
          phase: word('planning', 'moving'),
          done: COUNT,
          of: COUNT,
        },
        ['kind'],
      ),
    ),
    warnings: listOf(
      object({ code: word('stale-index', 'no-audit', 'open-access', 'unenforced'), message: TEXT }),
    ),
  }),
  OverviewTimes: object({
    count: COUNT,
    median: { type: ['number', 'null'] },
    p95: { type: ['number', 'null'] },
  }),
} as const satisfies Readonly<Record<string, JsonObject>>;
