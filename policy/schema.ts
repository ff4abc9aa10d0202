import type { Action } from './subject.js';

/** How an attribute is stored and compared. */
export type AttributeKind = 'String' | 'Set<String>' | 'datetime';

/** One attribute of an entity of Cedar. */
interface Attribute {
  readonly kind: AttributeKind;
  /** An entity may lack it: a policy must ask with `has` first. */
  readonly isOptional?: true;
  /** It follows from the others, and is nowhere stored or said. */
  readonly isDerived?: true;
}

/** Attributes of an entity by name. */
export type Attributes = Readonly<Record<string, Attribute>>;

const ALWAYS_TEXT: Attribute = { kind: 'String' };
const TEXT: Attribute = { kind: 'String', isOptional: true };
const SET: Attribute = { kind: 'Set<String>' };

/** Who asks. docs/access.md#who-asks */
export const USER_ATTRIBUTES = {
  sub: ALWAYS_TEXT,
  iss: TEXT,
  client: TEXT,
  roles: SET,
  organisation: TEXT,
  purpose: TEXT,
  ehr: TEXT,
  scopes: SET,
} as const satisfies Attributes;

/** What is asked for. docs/access.md#what-is-asked-for */
export const OBJECT_ATTRIBUTES = {
  Ehr: { ehr_id: ALWAYS_TEXT, namespace: TEXT, marks: SET },
  Version: {
    ehr_id: ALWAYS_TEXT,
    kind: ALWAYS_TEXT,
    template_id: TEXT,
    archetypes: SET,
    category: TEXT,
    categories: { kind: 'Set<String>', isDerived: true },
    origin: ALWAYS_TEXT,
    composer: TEXT,
    committer: TEXT,
    start_time: { kind: 'datetime', isOptional: true },
    time_committed: { kind: 'datetime' },
    lifecycle_state: ALWAYS_TEXT,
    marks: SET,
  },
} as const satisfies Readonly<Record<string, Attributes>>;

/** Type of an object. */
export type ObjectType = keyof typeof OBJECT_ATTRIBUTES;

/** Attributes of an object, of whichever type it is. */
export function attributesOf(type: ObjectType): Attributes {
  return OBJECT_ATTRIBUTES[type];
}

/** What can be done to an object. */
export const ACTIONS: readonly Action[] = ['read', 'create', 'update', 'delete', 'query', 'export'];

const shape = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, { kind, isOptional }]) => `${name}${isOptional === true ? '?' : ''}: ${kind}`)
    .join(', ');

/** The schema that every policy must fit, in Cedar's own language. */
export const CEDAR_SCHEMA = `entity User { ${shape(USER_ATTRIBUTES)} };
entity Ehr { ${shape(OBJECT_ATTRIBUTES.Ehr)} } tags Set<String>;
entity Version in [Ehr] { ${shape(OBJECT_ATTRIBUTES.Version)} } tags Set<String>;
action ${ACTIONS.map((name) => `"${name}"`).join(', ')} appliesTo { principal: [User], resource: [Ehr, Version] };
`;
