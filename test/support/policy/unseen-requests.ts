import { randomUUID } from 'node:crypto';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { creation, FOLDER, STATUS, TEMPLATE } from '../api/world.js';
import { aComposition } from '../resources.js';
import type { Random } from '../random.js';
import type { Names, SeenEhr } from './unseen-world.js';

/** One request about something that may be there, hidden, or not. */
export interface UnseenRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
}

const QUERIES = [
  'SELECT e/ehr_id/value FROM EHR e',
  'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c',
  'SELECT COUNT(*), MAX(c/uid/value) FROM EHR e CONTAINS VERSION v [ALL_VERSIONS] CONTAINS COMPOSITION c',
  'SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c',
  'SELECT e/ehr_id/value, f/uid/value FROM EHR e CONTAINS FOLDER f',
  'SELECT e/ehr_id/value, s/uid/value FROM EHR e CONTAINS EHR_STATUS s',
  'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value DESC LIMIT 3',
  'SELECT DISTINCT c/archetype_details/template_id/value FROM COMPOSITION c',
];

/** What makes no difference whether something is there, as design says: what is created under an id that is in use. */
export const CREATING = ['ehr_create', 'ehr_create_with_id'];

/** Requests of one operation about what may be there: of the hidden EHR, and of what is hidden in one that is seen. */
export function unseenRequests(operation: Operation, names: Names, seen: SeenEhr): UnseenRequest[] {
  const inPath = operation.path.includes('{ehr_id}') || operation.path.includes('{target_ehr_id}');
  if (!inPath) return withoutEhr(operation, names, seen);
  const hidden = requestsIn(operation, { ...names, owner: names['ehr'] ?? '' }, '_of_ehr');
  if (operation.id === 'contribution_create') return [...hidden, ...contributions(operation, names, seen)];
  if (writesWithoutObject(operation)) return hidden;
  const owner = { ...names, owner: seen.ehr };
  return [...hidden, ...requestsIn(operation, owner, ''), ...requestsIn(operation, owner, '_of_ehr')];
}

/** Requests of one operation about one EHR and what is in it, or over all. */
export function requestsAbout(operation: Operation, names: Names): UnseenRequest[] {
  const isInPath = operation.path.includes('{ehr_id}');
  const { ehr = '' } = names;
  return isInPath
    ? requestsIn(operation, { ...names, owner: ehr }, '_of_ehr')
    : withoutEhr(operation, names, { ehr, composition: '' });
}

/** CONTRIBUTIONs to the EHR that is seen, each about something that is hidden: none may be stored. */
function contributions(operation: Operation, names: Names, { ehr }: SeenEhr): UnseenRequest[] {
  const path = operation.path.replace('{ehr_id}', ehr);
  const {
    composition_uid: uid = '',
    directory_uid: folder = '',
    composition_of_ehr_uid: foreign = '',
  } = names;
  const versions = [
    changed('modification', '251', uid, { data: aComposition() }),
    changed('modification', '251', folder, { data: FOLDER }),
    changed('modification', '251', foreign, { data: aComposition() }),
    changed('deleted', '523', uid, {}),
    changed('attestation', '666', uid, {}),
  ];
  // What is wrong beside that is found before or after, as where nothing is there.
  const wrong = changed('creation', '249', null, { data: { ...aComposition(), name: 5 } });
  return [
    ...versions.map((version) => [version]),
    [wrong, ...versions.slice(0, 1)],
    [...versions.slice(0, 1), wrong],
  ].map((each) => ({ path, headers: {}, body: { _type: 'CONTRIBUTION', versions: each } }));
}

function changed(value: string, code: string, preceding: string | null, content: object): object {
  const change_type = {
    _type: 'DV_CODED_TEXT',
    value,
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: code,
    },
  };
  return {
    _type: 'ORIGINAL_VERSION',
    commit_audit: { _type: 'AUDIT_DETAILS', change_type },
    ...(preceding !== null && {
      preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: preceding },
    }),
    ...content,
  };
}

/** The same request with something wrong with it, or asked for otherwise: what is not there is refused first. */
export function spoiled(asked: UnseenRequest, random: Random): UnseenRequest {
  const { headers, body, path } = asked;
  const without = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'If-Match'));
  return random.pick([
    { ...asked, headers: without },
    { ...asked, headers: { ...headers, 'If-Match': 'no uid' } },
    { ...asked, headers: { ...headers, 'If-Match': OTHER } },
    { ...asked, headers: { ...headers, Accept: 'image/png' } },
    { ...asked, headers: { ...headers, Accept: 'application/xml' } },
    { ...asked, headers: { ...headers, Prefer: 'return=representation, resolve_refs' } },
    { ...asked, headers: { ...headers, 'openEHR-AUDIT_DETAILS': 'change_type.code_string="nonsense"' } },
    { ...asked, headers: { ...headers, 'openEHR-VERSION': 'lifecycle_state.code_string="800"' } },
    { ...asked, path: `${path}${path.includes('?') ? '&' : '?'}unknown=1` },
    { ...asked, path: `${path}${path.includes('?') ? '&' : '?'}version_at_time=yesterday` },
    ...(body === undefined
      ? []
      : [
          { ...asked, body: {} },
          { ...asked, body: { ...body, _type: 'NONSENSE' } },
        ]),
  ]);
}

/** A uid that nothing has. */
const OTHER = '"5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11::local.cdr::7"';

/** What would be done to the EHR that is seen. */
function writesWithoutObject({ path, access, id }: Operation): boolean {
  const isWrite = access !== 'read' || id.startsWith('favourite');
  return isWrite && !/\{(uid_based_id|version_uid|versioned_object_uid|contribution_uid)\}/.test(path);
}

function withoutEhr({ id }: Operation, names: Names, seen: SeenEhr): UnseenRequest[] {
  const of = (query: string): UnseenRequest => ({ path: query, headers: {} });
  const { subject = '', ehr = '' } = names;
  switch (id) {
    case 'ehr_get_by_subject':
      return [of(`?subject_id=${subject}&subject_namespace=hospital`)];
    case 'ehr_find':
      return [subject, ehr, 'shared'].map((identifier) => of(`?identifier=${identifier}`));
    case 'getMergeCandidates':
      return [of(''), of(`?ehr_id=${ehr}`), of(`?ehr_id=${seen.ehr}`)];
    case 'print_note':
      return [{ path: '', headers: {}, body: { of: 'record', ehr_id: ehr } }];
    case 'query_execute_adhoc':
      return QUERIES.flatMap((q) => [
        of(`?q=${encodeURIComponent(q)}`),
        of(`?q=${encodeURIComponent(q)}&ehr_id=${ehr}`),
      ]);
    case 'query_execute_adhoc_post':
    case 'query_explain':
      return QUERIES.flatMap((q) =>
        [{ q }, { q, ehr_id: seen.ehr }, { q, ehr_id: ehr }].map((body) => ({ path: '', headers: {}, body })),
      );
    default:
      return id.startsWith('query_execute_stored')
        ? [{ path: '', headers: {}, ...(id.endsWith('post') && { body: {} }) }]
        : [of('')];
  }
}

/** With each name that a path may have for an object, and at a time. */
function requestsIn(operation: Operation, names: Names, where: '_of_ehr' | ''): UnseenRequest[] {
  const objects = objectNames(operation, where);
  const times =
    operation.parameters?.includes('version_at_time') === true
      ? ['', '?version_at_time=2100-01-01T00:00:00Z']
      : [''];
  const lists =
    operation.id === 'ehr_get_by_id'
      ? ['', '?include=compositions,contributions,versions,ehr_status']
      : times;
  const forms = operation.path.includes('{uid_based_id}') ? ['_id', '_uid'] : ['_id'];
  return objects.flatMap((object) =>
    forms.flatMap((form) => lists.map((query) => requestOf(operation, { ...names, object, form }, query))),
  );
}

/** Names, without `_uid` and `_id`, of objects that an operation may be about. */
function objectNames({ path }: Operation, where: '_of_ehr' | ''): string[] {
  if (path.includes('ehr_status')) return ['ehr_status'];
  if (path.includes('directory')) return [`directory${where}`];
  if (path.includes('contribution')) return [`contribution${where}`];
  return where === '' && path.includes('composition') ? ['composition', 'deleted'] : [`composition${where}`];
}

function requestOf(operation: Operation, names: Names, query: string): UnseenRequest {
  const { object = '' } = names;
  const uid = names[`${object}_uid`] ?? '';
  const id = names[`${object}_id`] ?? '';
  const values: Names = {
    ehr_id: names['owner'] ?? '',
    version_uid: uid,
    uid_based_id: names['form'] === '_uid' ? uid : id,
    versioned_object_uid: id,
    contribution_uid: names[object] ?? '',
    key: 'status',
    draft_id: '00000000-0000-4000-8000-000000000001',
  };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const body = bodyOf(operation.id, uid);
  return {
    path: `${path}${query}`,
    headers: uid === '' ? {} : { 'If-Match': `"${uid}"` },
    ...(body !== null && { body }),
  };
}

const TAGS = [{ key: 'status', value: 'mine' }];

function bodyOf(id: string, uid: string): object | null {
  if (id.endsWith('item_tag_delete')) return [randomUUID()];
  if (/item_tag_put$|tags_update$/.test(id)) return TAGS;
  const bodies: Readonly<Record<string, object>> = {
    composition_create: aComposition(),
    composition_update: aComposition(),
    composition_preview: aComposition(),
    ehr_status_update: STATUS,
    updateEhr: STATUS,
    directory_create: FOLDER,
    directory_update: FOLDER,
    contribution_create: creation(aComposition()),
    draft_save: { template_id: TEMPLATE, version_uid: uid === '' ? null : uid, content: {} },
  };
  return bodies[id] ?? null;
}
