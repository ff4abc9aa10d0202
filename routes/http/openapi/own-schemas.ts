import type { JsonObject } from '../../../openehr/base/json.js';
import { ANY, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';

const DRAFT_CONTENT: JsonObject = { ...ANY, description: 'What is typed, as FLAT has it' };
const DRAFT_MEMBERS = {
  draft_id: UUID,
  ehr_id: TEXT,
  template_id: TEXT,
  version_uid: { type: ['string', 'null'], description: 'null: a new COMPOSITION' },
  saved_at: TIME,
  expires_at: TIME,
};

const DASHBOARD_MEMBERS = {
  name: TEXT,
  panels: listOf(object({ title: TEXT, q: TEXT, show: word('table', 'chart') })),
  parameters: {
    type: 'object',
    description: 'Values of the parameters of its queries',
    additionalProperties: TEXT,
  },
};

/** Bodies of what is a user's own, and of what he looks up: drafts, dashboards, prints, concepts. */
export const OWN_SCHEMAS = {
  Draft: object({ ...DRAFT_MEMBERS, content: DRAFT_CONTENT }, Object.keys(DRAFT_MEMBERS)),
  DraftList: listOf(object(DRAFT_MEMBERS, Object.keys(DRAFT_MEMBERS))),
  DraftBody: object({ template_id: TEXT, version_uid: DRAFT_MEMBERS.version_uid, content: DRAFT_CONTENT }, [
    'template_id',
    'content',
  ]),
  Dashboard: object({ dashboard_id: UUID, ...DASHBOARD_MEMBERS, saved_at: TIME }),
  DashboardList: listOf(ref('Dashboard')),
  DashboardBody: object(DASHBOARD_MEMBERS, ['name', 'panels']),
  ConceptSearch: object(
    {
      value_set: { ...TEXT, description: 'URL of a FHIR value set' },
      filter: { ...TEXT, description: 'Piece of what its concepts are called' },
    },
    ['value_set'],
  ),
  ConceptList: object({ concepts: listOf(object({ code: TEXT, display: TEXT, system: TEXT })) }),
  PrintBody: object(
    {
      of: word('record', 'document', 'result', 'access'),
      ehr_id: TEXT,
      uid: { ...TEXT, description: 'Of the document' },
      q: { ...TEXT, description: 'Of the result; the audit keeps it without literals' },
    },
    ['of'],
  ),
} as const satisfies Readonly<Record<string, JsonObject>>;
