import type { BodyDoc, OperationDoc, OperationGroup } from '../http/operation.js';

const EHR = '/rest/openehr/v1/ehr/{ehr_id}';
const OWN = '/rest/experimental/tags/ehr/{ehr_id}';
const RESOURCES = ['composition', 'ehr_status'] as const;
const tags: BodyDoc = { schema: 'ItemTagList', types: 'json' };
const dtos: BodyDoc = { schema: 'ItemTagDtoList', types: 'json' };

/** Contract section 11, face B. */
export const TAG_OPERATIONS: OperationGroup = {
  tag: 'ITEM_TAG',
  description: 'Tags of versions and containers, outside versioning (ITS-REST development, experimental)',
  operations: [
    {
      id: 'ehr_tags_get',
      method: 'get',
      path: `${EHR}/tags`,
      summary: 'List all tags in an EHR',
      access: 'user',
      parameters: ['tag_key', 'tag_value', 'tag_target_path'],
      responses: { 200: { description: 'The tags; may be empty', body: tags } },
      errors: [400, 404],
    },
    ...RESOURCES.flatMap((resource): OperationDoc[] => {
      const path = `${EHR}/${resource}/{uid_based_id}/tags`;
      return [
        {
          id: `${resource}_tags_get`,
          method: 'get',
          path,
          summary: 'List the tags of a target',
          access: 'user',
          responses: { 200: { description: 'The tags; may be empty', body: tags } },
          errors: [400, 404],
        },
        {
          id: `${resource}_tags_update`,
          method: 'put',
          path,
          summary: 'Replace all tags of a target',
          access: 'user',
          parameters: ['Prefer'],
          request: { schema: 'ItemTagUpdate', types: 'json' },
          responses: {
            200: { description: 'Replaced; the tags only when `Prefer` asks for them', body: tags },
          },
          errors: [400, 404, 409],
        },
        {
          id: `${resource}_tags_delete`,
          method: 'delete',
          path: `${path}/{key}`,
          summary: 'Delete the tags of a target that have this key',
          access: 'user',
          responses: { 204: { description: 'Deleted' } },
          errors: [400, 404, 409],
        },
      ];
    }),
  ],
};

/** Contract section 11, face A. */
export const OWN_TAG_OPERATIONS: OperationGroup = {
  tag: 'ITEM_TAG of EHRbase',
  description: 'The same tags by their ids, as clients of EHRbase know them',
  operations: RESOURCES.flatMap((resource): OperationDoc[] => {
    const path = `${OWN}/${resource}/{uid_based_id}/item_tag`;
    return [
      {
        id: `${resource}_item_tag_get`,
        method: 'get',
        path,
        summary: 'List the tags of a target',
        access: 'user',
        parameters: ['ids', 'keys'],
        responses: { 200: { description: 'The tags; may be empty', body: dtos } },
        errors: [400, 404],
      },
      {
        id: `${resource}_item_tag_put`,
        method: 'put',
        path,
        summary: 'Add tags, or change those whose id is given',
        access: 'user',
        parameters: ['Prefer'],
        request: dtos,
        responses: {
          200: {
            description: 'Ids of the tags, or the tags when `Prefer` asks for them',
            body: { schema: 'ItemTagIds', types: 'json' },
            headers: ['Location'],
          },
        },
        errors: [400, 404, 409, 422],
      },
      {
        id: `${resource}_item_tag_delete`,
        method: 'delete',
        path,
        summary: 'Delete tags by their ids; unknown ids are ignored',
        access: 'user',
        request: { schema: 'ItemTagIds', types: 'json' },
        responses: { 204: { description: 'Deleted' } },
        errors: [400, 404, 409, 422],
      },
    ];
  }),
};
