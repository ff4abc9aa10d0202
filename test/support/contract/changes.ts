import type { Answer, Replayed } from './replay.js';

/** A difference to the recorded release that is meant, with the words by which UPDATING.md tells of it. */
type Change = { readonly told: string } & (
  | {
      /** Both answers without what came or went everywhere; what is left of them is compared. */
      readonly without: (answer: Answer) => Answer;
    }
  | { readonly isOf: (replayed: Replayed) => boolean }
);

const inBody =
  (pattern: RegExp, replacement = '') =>
  (answer: Answer): Answer => ({ ...answer, body: answer.body.replaceAll(pattern, replacement) });

/** Without the texts of a `Warning` that match. */
const withoutWarning =
  (pattern: RegExp) =>
  ({ headers, ...answer }: Answer): Answer => {
    const { warning = '', ...others } = headers;
    const left = warning
      .split(/, (?=299 )/)
      .filter((text) => text !== '' && !pattern.test(text))
      .join(', ');
    return { ...answer, headers: left === '' ? others : { ...others, warning: left } };
  };

const from =
  (then: number, now: number, message: RegExp) =>
  (replayed: Replayed): boolean =>
    replayed.then.status === then &&
    replayed.now.status === now &&
    message.test(`${replayed.then.body} ${replayed.now.body} ${replayed.now.headers['warning'] ?? ''}`);

/** The members of an EHR_STATUS in another order. */
function haveSameMembers({ then, now }: Replayed): boolean {
  const sorted = (body: string): string =>
    JSON.stringify(JSON.parse(body), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  const isOfStatus = then.body.startsWith('{') && then.body.includes('"_type":"EHR_STATUS"');
  return then.status === now.status && isOfStatus && sorted(then.body) === sorted(now.body);
}

/** All that a user of the default dialect sees of the changes since the release that was recorded. */
export const CHANGES: readonly Change[] = [
  {
    told: 'An IMPORTED_VERSION in a CONTRIBUTION is 403 without the permission `restore`; it was 400',
    isOf: from(400, 403, /an IMPORTED_VERSION says who wrote what when/),
  },
  {
    told: 'an item tag cannot be on a version that is not there: the message names it by its uid',
    without: inBody(/ has no version (?:\d+ of this system|[^"\s]+)/g, ' has no such version'),
  },
  { told: '`meta` has `_certain_until`', without: inBody(/,"_certain_until":"[^"]*"/g) },
  {
    told: 'Violations of canonical content have a `flatPath`',
    without: inBody(/,"flatPath":"[^"]*"/g),
  },
  {
    told: 'The declaration of XML answers names no encoding',
    without: inBody(/^<\?xml version="1.0" encoding="UTF-8"\?>/g, '<?xml version="1.0"?>'),
  },
  {
    told: '`change_type` in audits has a `preferred_term`',
    without: inBody(
      /(code_string[>":]+(?:249|25[0-3]|523|666)(?:"|<\/code_string>))(?:,"preferred_term":"[a-z ]+"|<preferred_term>[a-z ]+<\/preferred_term>)/g,
      '$1',
    ),
  },
  {
    told: '`target` is the id itself (was an OBJECT_REF)',
    without: inBody(
      /"target":\{"_type":"OBJECT_REF","id":(\{"_type":"[A-Z_]+","value":"[^"]+"\}),"namespace":"local","type":"[A-Z_]+"\}/g,
      '"target":$1',
    ),
  },
  {
    told: 'A `Warning` names empty lists and an EHR_STATUS without `archetype_details`',
    without: withoutWarning(/has no archetype_details|the empty list \w+ was left out/),
  },
  {
    told: 'is ignored with a `Warning` (was 412)',
    isOf: from(412, 201, /of the new COMPOSITION is not .* and was ignored/),
  },
  {
    told: 'and so is the `uid` of another object in an EHR_STATUS',
    isOf: from(412, 200, /the uid of the content is of another object/),
  },
  {
    told: "Unknown query parameters, and members of a query's body, are ignored with a `Warning` (they were 400)",
    isOf: ({ then, now }) =>
      then.status === 400 &&
      then.body.includes('"unknown-parameter"') &&
      (now.headers['warning'] ?? '').includes('is not known'),
  },
  {
    told: 'An update of an EHR_STATUS without `subject`, `is_queryable` or `is_modifiable` is 400 naming them',
    isOf: ({ now }) =>
      now.status === 400 && /: Attribute (subject|is_queryable|is_modifiable) is required/.test(now.body),
  },
  {
    told: 'the members of an updated EHR_STATUS stand in the order in which they were sent',
    isOf: haveSameMembers,
  },
  {
    told: 'a container with more or fewer members than its template says is 422',
    isOf: from(201, 422, /does not match cardinality/),
  },
  {
    told: 'a duration with units that the pattern of the template lacks',
    isOf: from(201, 422, /must be of the pattern P/),
  },
  {
    told: '`_snapshot: false` in its `meta` only where',
    without: inBody(/,"_snapshot":false/g),
  },
  {
    told: 'Drafts (553, 801) may lack root attributes',
    isOf: from(400, 201, /missing mandatory attribute: composer/),
  },
  { told: '`fetch` with TOP is 400 (was 422)', isOf: from(422, 400, /contains a TOP clause/) },
  {
    told: 'A CONTRIBUTION is taken and answered with the media types of FLAT and STRUCTURED (was 415, 406)',
    isOf: ({ exchange, then, now, differences }) =>
      /\/contribution(\/|$)/.test(exchange.url) &&
      then.status === now.status &&
      [406, 415].includes(now.status) &&
      differences.join() === 'body',
  },
  {
    told: 'In a CONTRIBUTION an unknown template is 422 (was 400)',
    isOf: from(400, 422, /"unknown-template"/),
  },
  {
    told: 'an EHR_STATUS created or deleted 409 (was 400)',
    isOf: from(400, 409, /EHR_STATUS cannot be (created|deleted) by a CONTRIBUTION/),
  },
  {
    told: '`other_input_version_uids` that name no version here need the permission `admin`',
    isOf: ({ now }) => now.status === 400 && now.body.includes('other_input_version_uids'),
  },
  {
    told: 'A query for an `ehr_id` (parameter, header, member) that never existed, or was erased, is 404',
    isOf: from(200, 404, /EHR with id \S+ does not exist/),
  },
  {
    told: 'A query whose plan takes more than `AQL_MAX_COMPILE_STEPS` to make is 422',
    isOf: from(200, 422, /AQL_MAX_COMPILE_STEPS/),
  },
  {
    told: 'A key on a PUT or DELETE that makes a version was ignored and counts now; a malformed one is 400',
    isOf: from(201, 400, /Idempotency-Key must be/),
  },
  {
    told: 'used with another body or `If-Match`',
    without: inBody(/(Idempotency-Key was used with another body)(?: or If-Match)?/g, '$1'),
  },
  {
    told: '`include` knows `versions`',
    without: inBody(/(include may name compositions, contributions, ehr_status)(?:, versions)?/g, '$1'),
  },
  {
    told: 'violations of FLAT name the key that is unknown',
    isOf: ({ then, now }) => then.status === now.status && now.body.includes('"code":"unknown-key"'),
  },
  {
    told: 'Types and descriptions of the OpenAPI document',
    isOf: ({ exchange }) => exchange.url.includes('/openapi.json'),
  },
  {
    told: 'Conditions of a pipeline that explain shows are joined in one `$and`',
    isOf: ({ exchange, then, now }) => exchange.url.endsWith('/explain') && then.status === now.status,
  },
];
