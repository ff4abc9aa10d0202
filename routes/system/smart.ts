import type { Settings } from '../../config/settings.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import type { Operation } from '../http/operation/operation.js';
import { STANDARD_API, type RequestState } from '../http/request/request-state.js';

/** What the identity provider says of itself; null: none is known. @throws unavailable */
export type ProviderSource = () => Promise<JsonObject | null>;

/** Members of the provider's own document that applications need. */
const TEXTS = [
  'issuer',
  'jwks_uri',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'introspection_endpoint',
  'revocation_endpoint',
  'userinfo_endpoint',
  'end_session_endpoint',
] as const;
const LISTS = [
  'token_endpoint_auth_methods_supported',
  'grant_types_supported',
  'response_types_supported',
  'code_challenge_methods_supported',
] as const;

/** What a provider does that does not say it: RFC 8414, section 2, and PKCE, which SMART asks for. */
const USUAL: JsonObject = {
  grant_types_supported: ['authorization_code'],
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
};

/** The scopes that this server reads, each kind with wildcards. */
const SCOPES = ['patient', 'user', 'system'].flatMap((compartment) => [
  ...[`${compartment}/composition-**.cruds`, `${compartment}/template-**.crus`],
  `${compartment}/aql-**.crs`,
]);

/** What this server does; what the provider does for applications that are opened he says himself. */
const CAPABILITIES = ['openehr-permission-v1', 'permission-patient', 'permission-user'];

/** `/.well-known/smart-configuration`: where applications sign in, and where the APIs are. docs/smart.md#discovery */
export function smartOperation(
  settings: Pick<Settings, 'smartScopes'>,
  provider: ProviderSource,
): Operation[] {
  if (settings.smartScopes === 'off') return [];
  return [
    {
      id: 'smart_configuration',
      discloses: 'nothing',
      method: 'GET',
      path: '/.well-known/smart-configuration',
      summary: 'Tell applications of SMART on openEHR where they sign in, and where the APIs are',
      access: 'open',
      audit: 'none',
      responses: {
        200: { description: 'The configuration', body: { schema: 'SmartConfiguration', types: 'json' } },
      },
      errors: [503],
      handle: async (ctx) => {
        ctx.body = configuration(ctx.state, await provider());
      },
    },
  ];
}

function configuration({ baseUrl }: RequestState, provider: JsonObject | null): JsonObject {
  return {
    ...(provider !== null && saidBy(provider)),
    scopes_supported: [...new Set([...textsIn(provider?.scopes_supported), ...SCOPES])],
    capabilities: [...CAPABILITIES],
    services: {
      'org.openehr.rest': {
        baseUrl: `${baseUrl}${STANDARD_API}`,
        description: 'openEHR REST API',
        documentation: `${baseUrl}/swagger-ui.html`,
        openapi: `${baseUrl}/rest/openapi.json`,
      },
    },
  };
}

function saidBy(provider: JsonObject): JsonObject {
  const said: Record<string, JsonValue> = { ...USUAL };
  for (const name of TEXTS) {
    const value = provider[name];
    if (typeof value === 'string') said[name] = value;
  }
  for (const name of LISTS) {
    const values = textsIn(provider[name]);
    if (values.length > 0) said[name] = values;
  }
  return said;
}

function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
