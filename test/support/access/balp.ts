/** JSON of FHIR. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** What a profile of BALP requires of one element: that it is there so often, with this value where it is fixed. */
interface Required {
  /** As the table of docs/access-log.md has it: `agent:client.type` is the slice `client` of `agent`. */
  readonly element: string;
  readonly profiles: 'all' | readonly string[];
  readonly least: number;
  readonly most?: number;
  readonly value?: Json | ((profile: string) => Json);
}

const DICOM = 'http://dicom.nema.org/resources/ontology/DCM';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';
const SUBTYPES: Readonly<Record<string, string>> = {
  Read: 'read',
  Query: 'search',
  Create: 'create',
  Update: 'update',
  Delete: 'delete',
};
const ACTIONS: Readonly<Record<string, string>> = {
  Read: 'R',
  Query: 'E',
  Create: 'C',
  Update: 'U',
  Delete: 'D',
};
const PATIENT = ['PatientRead', 'PatientQuery', 'PatientCreate', 'PatientUpdate', 'PatientDelete'];
const QUERIES = ['Query', 'PatientQuery'];
const DATA = ['Read', 'Create', 'Update', 'Delete', ...PATIENT.filter((name) => name !== 'PatientQuery')];

const plain = (profile: string): string => profile.replace('Patient', '');
const isDeletion = (profile: string): boolean => plain(profile) === 'Delete';

/** How a slice is told: by the codes of its type, and of entities of its role. */
const SLICES: Readonly<Record<string, (element: Json) => boolean>> = {
  'agent:client': (agent) => ['110153', '110150'].includes(textAt(agent, 'type.coding.code')),
  'agent:server': (agent) => ['110152', 'custodian'].includes(textAt(agent, 'type.coding.code')),
  'agent:user': (agent) => first(agent, 'type.coding.code') === 'IRCP',
  'entity:transaction': (entity) => first(entity, 'type.code') === 'XrequestId',
  'entity:patient': (entity) => first(entity, 'type.code') === '1' && first(entity, 'role.code') === '1',
  'entity:data': (entity) => first(entity, 'type.code') === '2' && first(entity, 'role.code') === '4',
  'entity:query': (entity) => first(entity, 'type.code') === '2' && first(entity, 'role.code') === '24',
};

/** Each required element of the profiles Read, Query, Create, Update, Delete and their Patient… forms. */
export const REQUIRED: readonly Required[] = [
  { element: 'meta.profile', profiles: 'all', least: 1 },
  { element: 'modifierExtension', profiles: 'all', least: 0, most: 0 },
  { element: 'type.system', profiles: 'all', least: 1, most: 1, value: `${TERMINOLOGY}/audit-event-type` },
  { element: 'type.code', profiles: 'all', least: 1, most: 1, value: 'rest' },
  { element: 'subtype', profiles: 'all', least: 1 },
  {
    element: 'subtype:restful.code',
    profiles: 'all',
    least: 1,
    most: 1,
    value: (profile) => SUBTYPES[plain(profile)] ?? '',
  },
  {
    element: 'action',
    profiles: 'all',
    least: 1,
    most: 1,
    value: (profile) => ACTIONS[plain(profile)] ?? '',
  },
  { element: 'recorded', profiles: 'all', least: 1, most: 1 },
  { element: 'outcome', profiles: 'all', least: 1, most: 1 },
  { element: 'agent', profiles: 'all', least: 2 },
  { element: 'agent.requestor', profiles: 'all', least: 2 },
  { element: 'agent:client', profiles: 'all', least: 1, most: 1 },
  {
    element: 'agent:client.type.coding',
    profiles: 'all',
    least: 1,
    value: (profile) =>
      isDeletion(profile)
        ? { system: DICOM, code: '110150', display: 'Application' }
        : { system: DICOM, code: '110153', display: 'Source Role ID' },
  },
  { element: 'agent:client.who', profiles: 'all', least: 1, most: 1 },
  { element: 'agent:server', profiles: 'all', least: 1, most: 1 },
  {
    element: 'agent:server.type.coding',
    profiles: 'all',
    least: 1,
    value: (profile) =>
      isDeletion(profile)
        ? { system: `${TERMINOLOGY}/provenance-participant-type`, code: 'custodian', display: 'Custodian' }
        : { system: DICOM, code: '110152', display: 'Destination Role ID' },
  },
  { element: 'agent:server.who', profiles: 'all', least: 1, most: 1 },
  { element: 'source', profiles: 'all', least: 1, most: 1 },
  { element: 'source.observer', profiles: 'all', least: 1, most: 1 },
  { element: 'entity', profiles: 'all', least: 1 },
  { element: 'entity:transaction.what.identifier.value', profiles: 'all', least: 1, most: 1 },
  { element: 'entity:patient', profiles: PATIENT, least: 1, most: 1 },
  {
    element: 'entity:patient.type.system',
    profiles: PATIENT,
    least: 1,
    value: `${TERMINOLOGY}/audit-entity-type`,
  },
  { element: 'entity:patient.role.system', profiles: PATIENT, least: 1, value: `${TERMINOLOGY}/object-role` },
  { element: 'entity:patient.what', profiles: PATIENT, least: 1, most: 1 },
  { element: 'entity:data', profiles: DATA, least: 1, most: 1 },
  { element: 'entity:data.what', profiles: DATA, least: 1, most: 1 },
  { element: 'entity:query', profiles: QUERIES, least: 1, most: 1 },
  { element: 'entity:query.query', profiles: QUERIES, least: 1, most: 1 },
];

const PROFILE = 'https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.';

/** What an event lacks of its profile, one line each; what it is not one of BALP's is said too. */
export function violationsOf(event: Json): string[] {
  const url = textAt(event, 'meta.profile');
  const profile = url.replace(PROFILE, '');
  const all = ['Read', 'Query', 'Create', 'Update', 'Delete'].flatMap((name) => [name, `Patient${name}`]);
  if (!url.startsWith(PROFILE) || !all.includes(profile)) return [`meta.profile: ${url}`];
  return [
    ...REQUIRED.filter(({ profiles }) => profiles === 'all' || profiles.includes(profile)).flatMap((row) =>
      violationOf(event, row, profile),
    ),
    ...invariantsOf(event),
  ];
}

function violationOf(
  event: Json,
  { element, least, most = Infinity, value }: Required,
  profile: string,
): string[] {
  const found = valuesAt(event, element);
  if (found.length < least || found.length > most)
    return [`${profile}: ${element} is there ${found.length} times`];
  const fixed = typeof value === 'function' ? value(profile) : value;
  if (fixed === undefined || found.every((each) => JSON.stringify(each) === JSON.stringify(fixed))) return [];
  return [`${profile}: ${element} is ${JSON.stringify(found)}`];
}

/** What FHIR R4 itself asks of an AuditEvent beyond cardinality. */
function invariantsOf(event: Json): string[] {
  const id = textAt(event, 'id');
  const requestors = valuesAt(event, 'agent.requestor').filter((each) => each === true).length;
  const recorded = textAt(event, 'recorded');
  const outcome = textAt(event, 'outcome');
  // sev-1: a query and a name are not given together.
  const named = valuesAt(event, 'entity').filter((each) => has(each, 'name') && has(each, 'query'));
  return [
    ...(/^[A-Za-z0-9.-]{1,64}$/.test(id) ? [] : [`id: ${id}`]),
    ...(requestors === 1 ? [] : [`${requestors} requestors`]),
    ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(recorded)
      ? []
      : [`recorded: ${recorded}`]),
    ...(['0', '4', '8', '12'].includes(outcome) ? [] : [`outcome: ${outcome}`]),
    ...(named.length === 0 ? [] : ['sev-1']),
    ...emptyParts(event, ''),
  ];
}

/** FHIR has no empty texts, lists and objects. */
function emptyParts(value: Json, path: string): string[] {
  if (value === null || value === '') return [`${path} is empty`];
  if (typeof value !== 'object') return [];
  const members = Object.entries(value);
  if (members.length === 0) return [`${path} is empty`];
  return members.flatMap(([name, member]) => emptyParts(member, `${path}.${name}`));
}

function has(value: Json, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}

/** The values of an element, through lists and slices. */
function valuesAt(value: Json, element: string): Json[] {
  const [step = '', ...rest] = element.split('.');
  const [name = ''] = step.split(':');
  const isSlice = step.includes(':');
  const inside = (has(value, name) ? (value as { readonly [name: string]: Json })[name] : undefined) ?? [];
  const all: readonly Json[] = Array.isArray(inside) ? (inside as readonly Json[]) : [inside];
  const slice = step === 'subtype:restful' ? isRestful : SLICES[step];
  const chosen = isSlice ? all.filter((each) => slice?.(each) === true) : all;
  return rest.length === 0 ? [...chosen] : chosen.flatMap((each) => valuesAt(each, rest.join('.')));
}

const isRestful = (subtype: Json): boolean =>
  first(subtype, 'system') === 'http://hl7.org/fhir/restful-interaction';

function textAt(value: Json, element: string): string {
  const found = first(value, element);
  return typeof found === 'string' ? found : '';
}

function first(value: Json, element: string): Json | undefined {
  return valuesAt(value, element)[0];
}
