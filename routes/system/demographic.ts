import { CdrError } from '../../openehr/base/errors.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { STANDARD_API } from '../http/request/request-state.js';

const PATH = `${STANDARD_API}/demographic`;
const NOT_OFFERED = 'The Demographic API is not offered by this server';
const PARTIES = ['agent', 'group', 'organisation', 'person', 'role'] as const;

type Row = readonly [id: string, method: Operation['method'], path: string];

/** The Demographic API of ITS-REST, of which nothing is offered: 501 whatever the request holds. */
export function demographicOperations(): OperationGroup {
  return {
    tag: 'Demographic',
    description: NOT_OFFERED,
    operations: [...PARTIES.flatMap(partyRows), ...OTHERS].map(([id, method, path]) => ({
      id: `demographic_${id}`,
      method,
      path: PATH + path,
      summary: NOT_OFFERED,
      access: method === 'GET' ? 'read' : 'write',
      audit: 'none',
      discloses: 'nothing',
      responses: {},
      errors: [501],
      handle: () => {
        throw new CdrError('not-implemented', NOT_OFFERED);
      },
    })),
  };
}

function partyRows(party: (typeof PARTIES)[number]): Row[] {
  const one = `/${party}/{uid_based_id}`;
  return [
    [`${party}_create`, 'POST', `/${party}`],
    [`${party}_get`, 'GET', one],
    [`${party}_update`, 'PUT', one],
    [`${party}_delete`, 'DELETE', one],
    [`${party}_tags_get`, 'GET', `${one}/tags`],
    [`${party}_tags_update`, 'PUT', `${one}/tags`],
    [`${party}_tags_delete`, 'DELETE', `${one}/tags/{key}`],
  ];
}

const VERSIONED_PARTY = '/versioned_party/{versioned_object_uid}';
const OTHERS: readonly Row[] = [
  ['versioned_party_get', 'GET', VERSIONED_PARTY],
  ['versioned_party_revision_history_get', 'GET', `${VERSIONED_PARTY}/revision_history`],
  ['versioned_party_version_get_at_time', 'GET', `${VERSIONED_PARTY}/version`],
  ['versioned_party_version_get_by_id', 'GET', `${VERSIONED_PARTY}/version/{version_uid}`],
  ['contribution_create', 'POST', '/contribution'],
  ['contribution_get', 'GET', '/contribution/{contribution_uid}'],
  ['tags_get', 'GET', '/tags'],
];
