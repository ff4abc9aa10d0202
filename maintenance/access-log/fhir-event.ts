import type { AuditDoc } from '../../models/audit.js';
import { isUuid } from '../../openehr/base/object-version-id.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';

/** What the table of operations says of one. */
export interface AuditedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly discloses: string;
  readonly audit: string;
}

/** What the server says of itself. */
export interface AuditObserver {
  readonly systemId: string;
  /** Operations by id; those of other releases are missing. */
  readonly operations: ReadonlyMap<string, AuditedOperation>;
}

type Interaction = 'read' | 'search' | 'create' | 'update' | 'delete';

/** Name of the profile, action, and interaction of FHIR's RESTful API. docs/access-log.md#fhir */
const PROFILES: Readonly<Record<Interaction, { readonly name: string; readonly action: string }>> = {
  read: { name: 'Read', action: 'R' },
  search: { name: 'Query', action: 'E' },
  create: { name: 'Create', action: 'C' },
  update: { name: 'Update', action: 'U' },
  delete: { name: 'Delete', action: 'D' },
};
const PROFILE = 'https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';
const DICOM = 'http://dicom.nema.org/resources/ontology/DCM';

const coding = (system: string, code: string, display: string): JsonObject => ({ system, code, display });
const SOURCE_ROLE = coding(DICOM, '110153', 'Source Role ID');
const DESTINATION_ROLE = coding(DICOM, '110152', 'Destination Role ID');
const APPLICATION = coding(DICOM, '110150', 'Application');
const CUSTODIAN = coding(`${TERMINOLOGY}/provenance-participant-type`, 'custodian', 'Custodian');
const RECIPIENT = coding(`${TERMINOLOGY}/v3-ParticipationType`, 'IRCP', 'information recipient');
const ON_BEHALF = coding(`${TERMINOLOGY}/v3-RoleClass`, 'AGNT', 'agent');
const PERSON = coding(`${TERMINOLOGY}/audit-entity-type`, '1', 'Person');
const SYSTEM_OBJECT = coding(`${TERMINOLOGY}/audit-entity-type`, '2', 'System Object');

/** What an operation did, as a RESTful interaction: by its row of the table, of another release by its name. */
export function interactionOf(operation: string, row: AuditedOperation | undefined): Interaction {
  if (row === undefined) return named(operation);
  const { method, path, discloses, audit } = row;
  if (discloses === 'query') return 'search';
  if (method === 'DELETE' || discloses === 'delete') return 'delete';
  if (method === 'GET') return path.includes('{') ? 'read' : 'search';
  if (audit === 'read' || audit === 'query') return 'read';
  return discloses === 'create' || discloses === 'contribution' ? 'create' : 'update';
}

function named(operation: string): Interaction {
  if (/query|list|find/i.test(operation)) return 'search';
  if (/delete|remove|prune|undo|erase/i.test(operation)) return 'delete';
  if (/create|upload|restore|add/i.test(operation)) return 'create';
  return /update|save|store|put|merge|move/i.test(operation) ? 'update' : 'read';
}

/** EHRs that a record names, each once. */
function ehrIdsOf({ ehr_id: one, ehr_ids: others = [] }: AuditDoc): string[] {
  return [...new Set(one === undefined ? others : [one, ...others])];
}

/** How many events a record becomes: one for each EHR that it names, one where it names none. */
export function eventCount(record: AuditDoc): number {
  return Math.max(1, ehrIdsOf(record).length);
}

/** The event of a record about the EHR with this place among those that it names. docs/access-log.md#fhir */
export function fhirEvent(record: AuditDoc, index: number, observer: AuditObserver): JsonObject {
  const row = observer.operations.get(record.operation);
  const interaction = interactionOf(record.operation, row);
  const { name, action } = PROFILES[interaction];
  const ehrId = ehrIdsOf(record)[index];
  return {
    resourceType: 'AuditEvent',
    id: index === 0 ? record._id : `${record._id}.e${index}`,
    meta: {
      profile: [`${PROFILE}${ehrId === undefined ? '' : 'Patient'}${name}`],
      ...(record.pending === true && { tag: [{ code: 'pending' }] }),
    },
    type: coding(`${TERMINOLOGY}/audit-event-type`, 'rest', 'RESTful Operation'),
    subtype: [
      coding('http://hl7.org/fhir/restful-interaction', interaction, interaction),
      { code: record.operation },
    ],
    action,
    recorded: formatUtc(record.time),
    ...outcomeOf(record),
    ...purposeOf('purposeOfEvent', record),
    agent: agentsOf(record, interaction, observer),
    source: {
      observer: { display: observer.systemId },
      type: [coding(`${TERMINOLOGY}/security-source-type`, '4', 'Application Server')],
    },
    entity: entitiesOf(record, interaction, { row, ehrId }),
  };
}

/** 0 success, 4 the request was at fault, 8 the server was. */
function outcomeOf({ status, outcome, hidden }: AuditDoc): JsonObject {
  const words = [
    ...(status < 400 ? [] : [`HTTP ${status}`]),
    ...(hidden === true ? ['hidden by policies of access'] : []),
    ...(outcome === undefined ? [] : [outcome]),
  ];
  return {
    outcome: status < 400 ? '0' : status < 500 ? '4' : '8',
    ...(words.length > 0 && { outcomeDesc: words.join('; ') }),
  };
}

function purposeOf(member: 'purposeOfEvent' | 'purposeOfUse', { purpose }: AuditDoc): JsonObject {
  return purpose === undefined
    ? {}
    : { [member]: [{ coding: [{ system: `${TERMINOLOGY}/v3-ActReason`, code: purpose }] }] };
}

function agentsOf(record: AuditDoc, interaction: Interaction, { systemId }: AuditObserver): JsonValue[] {
  const { address, client_id: client, sub, organisation, actor, actor_issuer: actorIssuer } = record;
  const isDeletion = interaction === 'delete';
  return [
    {
      type: { coding: [isDeletion ? APPLICATION : SOURCE_ROLE] },
      who:
        client === undefined
          ? { display: address ?? systemId }
          : { identifier: { value: client }, display: client },
      requestor: sub === undefined,
      ...(address !== undefined && { network: { address, type: '2' } }),
    },
    {
      type: { coding: [isDeletion ? CUSTODIAN : DESTINATION_ROLE] },
      who: { display: systemId },
      requestor: false,
    },
    ...(sub === undefined ? [] : [userAgent(record)]),
    ...(actor === undefined
      ? []
      : [
          {
            type: { coding: [ON_BEHALF] },
            who: { identifier: identifierOf(actor, actorIssuer) },
            requestor: false,
          },
        ]),
    ...(organisation === undefined
      ? []
      : [{ type: { text: 'organisation of the user' }, who: { display: organisation }, requestor: false }]),
  ];
}

function userAgent(record: AuditDoc): JsonObject {
  const { user, sub = user, issuer, policies = [] } = record;
  return {
    type: { coding: [RECIPIENT] },
    who: { identifier: identifierOf(sub, issuer), display: user },
    requestor: true,
    ...(policies.length > 0 && { policy: policies.map((id) => `urn:everchart:policy:${id}`) }),
    ...purposeOf('purposeOfUse', record),
  };
}

function identifierOf(value: string, system: string | undefined): JsonObject {
  // FHIR's `system` is a URI; other words of issuers stand beside it.
  if (system === undefined) return { value };
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(system)
    ? { system, value }
    : { value, assigner: { display: system } };
}

interface Subject {
  readonly row: AuditedOperation | undefined;
  readonly ehrId: string | undefined;
}

function entitiesOf(record: AuditDoc, interaction: Interaction, { row, ehrId }: Subject): JsonObject[] {
  return [
    {
      what: { identifier: { value: record.request_id } },
      type: {
        system: 'https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType',
        code: 'XrequestId',
      },
    },
    ...(ehrId === undefined
      ? []
      : [
          {
            what: { type: 'Patient', identifier: ehrIdentifier(ehrId) },
            type: PERSON,
            role: coding(`${TERMINOLOGY}/object-role`, '1', 'Patient'),
          },
        ]),
    interaction === 'search' ? queryEntity(record, row) : dataEntity(record, ehrId),
  ];
}

function ehrIdentifier(ehrId: string): JsonObject {
  return isUuid(ehrId) ? { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${ehrId}` } : { value: ehrId };
}

/** What was asked: of AQL its text without literals, else the operation with its path. */
function queryEntity(record: AuditDoc, row: AuditedOperation | undefined): JsonObject {
  const { aql, operation, objects: [name] = [] } = record;
  const text = aql ?? name ?? (row === undefined ? operation : `${row.method} ${row.path}`);
  return {
    type: SYSTEM_OBJECT,
    role: coding(`${TERMINOLOGY}/object-role`, '24', 'Query'),
    query: Buffer.from(text).toString('base64'),
    ...detailOf(record, record.objects ?? []),
  };
}

function dataEntity(record: AuditDoc, ehrId: string | undefined): JsonObject {
  const { objects = [], target, operation } = record;
  const [first, ...others] = objects;
  const id = first ?? target ?? ehrId;
  return {
    what: id === undefined ? { display: operation } : { identifier: { value: id } },
    type: SYSTEM_OBJECT,
    role: coding(`${TERMINOLOGY}/object-role`, '4', 'Domain Resource'),
    ...detailOf(record, others),
  };
}

/** What FHIR has no element for, in the words of the record. */
const DETAILS = [
  'templates',
  'categories',
  'origins',
  'target',
  'rows',
  'population',
  'ehr_count',
  'part',
  'parameters_hash',
  'aql_hash',
  'reason',
  'dry_run',
  'restored',
] as const satisfies readonly (keyof AuditDoc)[];

function detailOf(record: AuditDoc, objects: readonly string[]): JsonObject {
  const details = [
    ...objects.map((valueString) => ({ type: 'object', valueString })),
    ...DETAILS.flatMap((name) => {
      const value = record[name];
      const values = Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [value];
      return values.map((each) => ({ type: name, valueString: String(each) }));
    }),
  ];
  return details.length === 0 ? {} : { detail: details };
}
