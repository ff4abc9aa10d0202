import type { JsonObject } from '../../../openehr/base/json.js';
import { ACTIONS, OBJECT_ATTRIBUTES, USER_ATTRIBUTES, type Attributes } from '../../../policy/schema.js';
import { MARK_KINDS } from '../../../policy/marks.js';
import { COUNT, FLAG, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';

const CHANGES = object({ gained: COUNT, lost: COUNT });
const POLICY_TEXT = { ...TEXT, description: 'In Cedar' };
const SUBJECT_REQUEST = {
  principal: { ...COUNT, description: 'Which of the principals, from 0' },
  action: word(...ACTIONS),
};
const KINDS = { String: TEXT, 'Set<String>': listOf(TEXT), datetime: TIME };

/** Members of an entity, and those that it always has. */
function entity(attributes: Attributes, more: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  const members = Object.entries(attributes).filter(([, { isDerived }]) => isDerived !== true);
  const always = members.filter(([, { kind, isOptional }]) => isOptional !== true && kind !== 'Set<String>');
  return object({ ...more, ...Object.fromEntries(members.map(([name, { kind }]) => [name, KINDS[kind]])) }, [
    ...(more.type === undefined ? [] : ['type']),
    ...always.map(([name]) => name),
  ]);
}

const TAGS = { type: 'object', additionalProperties: listOf(TEXT) };
/** Something that is not stored. */
const DESCRIBED = [
  entity(OBJECT_ATTRIBUTES.Ehr, { type: word('Ehr'), tags: TAGS }),
  entity(OBJECT_ATTRIBUTES.Version, { type: word('Version'), uid: TEXT, tags: TAGS }),
];

/** What a mark says, as it is sent. */
const MARK = {
  kind: word(...MARK_KINDS),
  ground: TEXT,
  object_uid: { ...UUID, description: 'A container of a COMPOSITION; alone' },
  template_id: TEXT,
  category: TEXT,
  origin: TEXT,
  organisation: TEXT,
  from: TEXT,
  to: TEXT,
};
const SAID = { time: TIME, by: TEXT };

/** What content is of which category, as it is sent. */
const CATEGORIES = listOf(
  object(
    {
      name: { ...TEXT, description: 'A word in small letters, as `psychiatry`' },
      templates: { ...listOf(TEXT), description: 'Ids of templates' },
      archetypes: { ...listOf(TEXT), description: 'Ids of archetypes of roots of COMPOSITIONs' },
    },
    ['name'],
  ),
);
const CATEGORIES_VERSION = {
  version: { ...COUNT, description: '0: none were ever stored' },
  categories: CATEGORIES,
  ...SAID,
};
const SECOND = { ...TEXT, description: 'The second person, where it took two (`FOUR_EYES`)' };

/** Bodies about policies of access, and marks: docs/access.md */
export const POLICY_SCHEMAS = {
  EhrMarksBody: object({ marks: listOf(object({ ...MARK, ...SAID }, ['kind', 'ground'])) }),
  EhrMarks: object({
    ehr_id: TEXT,
    enforced: FLAG,
    categories: { ...listOf(TEXT), description: 'Those that a mark may be about' },
    marks: listOf(object({ ...MARK, ...SAID, lifted: object(SAID) }, ['kind', 'ground', 'time', 'by'])),
  }),
  AccessPolicy: object({ id: TEXT, policy: POLICY_TEXT, version: COUNT, time: TIME, by: TEXT }, ['id']),
  AccessPolicyBody: object({ policy: POLICY_TEXT }, ['policy']),
  AccessPolicyList: object(
    { mode: word('dry', 'observe', 'enforce'), policies: listOf(ref('AccessPolicy')) },
    ['policies'],
  ),
  AccessPolicyVersions: object({
    versions: listOf(
      object(
        {
          version: COUNT,
          policy: { type: ['string', 'null'], description: 'null: it was removed' },
          time: TIME,
          by: TEXT,
          confirmed_by: SECOND,
        },
        ['version', 'policy', 'time', 'by'],
      ),
    ),
  }),
  AccessCategoriesBody: object(
    {
      ...CATEGORIES_VERSION,
      confirmed_by: TEXT,
      unknown_templates: listOf(TEXT),
    },
    ['categories'],
  ),
  AccessCategories: object(
    {
      ...CATEGORIES_VERSION,
      confirmed_by: SECOND,
      unknown_templates: {
        ...listOf(TEXT),
        description: 'Templates that they name and that are not here; absent: none',
      },
    },
    ['categories'],
  ),
  AccessCategoryVersions: object({
    versions: listOf(
      object({ ...CATEGORIES_VERSION, confirmed_by: SECOND }, ['version', 'categories', 'time', 'by']),
    ),
  }),
  AccessPolicyFindings: object(
    {
      valid: FLAG,
      findings: listOf(
        object(
          {
            kind: word('syntax', 'schema', 'translation', 'advice'),
            message: TEXT,
            line: COUNT,
            column: COUNT,
          },
          ['kind', 'message'],
        ),
      ),
    },
    ['findings'],
  ),
  AccessObserved: object(
    {
      from: TIME,
      complete: FLAG,
      observed: listOf(
        object(
          {
            user: TEXT,
            sub: TEXT,
            issuer: TEXT,
            organisation: TEXT,
            purpose: TEXT,
            operation: TEXT,
            count: COUNT,
            last: TIME,
            policies: listOf(TEXT),
          },
          ['user', 'operation', 'count', 'last', 'policies'],
        ),
      ),
    },
    ['observed'],
  ),
  AccessPrincipal: entity(USER_ATTRIBUTES),
  AccessQuestion: object(
    {
      principal: ref('AccessPrincipal'),
      action: word(...ACTIONS),
      resource: {
        anyOf: [object({ ehr_id: TEXT, uid: TEXT }, ['ehr_id']), ...DESCRIBED],
        description:
          'Something stored, by its EHR and the uid of a VERSION or container; or whatever is described',
      },
      emergency: { ...FLAG, description: 'Whether emergency access is stated' },
    },
    ['principal', 'action', 'resource'],
  ),
  AccessDecision: object(
    {
      decision: word('permit', 'forbid'),
      policies: listOf(TEXT),
      marks: listOf(word(...MARK_KINDS)),
      reasons: listOf(TEXT),
    },
    ['policies'],
  ),
  AccessDraft: object(
    {
      policies: listOf(object({ id: TEXT, policy: POLICY_TEXT })),
      principals: { ...listOf(ref('AccessPrincipal')), minItems: 1 },
      actions: listOf(word(...ACTIONS)),
    },
    ['policies', 'principals'],
  ),
  AccessComparison: object(
    {
      examined: object({ ehrs: COUNT, versions: COUNT }),
      complete: FLAG,
      differences: listOf(
        object({
          ...SUBJECT_REQUEST,
          ehrs: CHANGES,
          versions: CHANGES,
          templates: { type: 'object', additionalProperties: CHANGES },
        }),
      ),
      examples: listOf(
        object(
          {
            ...SUBJECT_REQUEST,
            decision: word('permit', 'forbid'),
            policies: listOf(TEXT),
            ehr_id: TEXT,
            uid: TEXT,
            template_id: TEXT,
          },
          ['principal', 'action', 'decision', 'policies', 'ehr_id'],
        ),
      ),
    },
    ['differences'],
  ),
} as const satisfies Readonly<Record<string, JsonObject>>;
