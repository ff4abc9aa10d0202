import Joi from 'joi';
import { codeSetCodes } from '../../../openehr/rm/terminology/openehr.js';
import { readRolePermissions } from '../../identity/identifier.js';
import { asciiUpperCase } from '../../../openehr/base/text.js';
import {
  bannerPaths,
  choice,
  commaList,
  count,
  flag,
  orNull,
  pemText,
  text,
  webAddress,
  words,
  wordsAmong,
} from '../setting-checks.js';
import { part, setting } from './setting.js';

const JWT_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;
const MANAGEMENT: readonly string[] = ['health', 'info', 'env', 'metrics', 'prometheus', 'loggers'];

/** Who may do what: tokens, passwords, roles, the administration API. In the order of the documentation. */
export const ACCESS_SETTINGS = [
  part(
    'AUTH',
    Joi.string().replace(/\s/g, '').valid('none', 'jwt', 'basic', 'jwt,basic', 'basic,jwt').empty(''),
    'none, jwt, basic or jwt,basic for the standard API; empty = none on a loopback HOST, else jwt',
  ),
  setting(
    'AUTH_NONE_ANYWHERE',
    'authNoneAnywhere',
    flag(false),
    'whether AUTH=none is allowed on a HOST that other machines reach: everybody there reads and writes',
  ),
  setting('JWT_SECRET', 'jwt.secret', orNull(text()), 'HMAC secret, at least 32 bytes'),
  setting(
    'JWT_PUBLIC_KEY',
    'jwt.publicKey',
    orNull(text().custom(pemText)),
    'public key, PEM text or path of a PEM file',
  ),
  setting(
    'JWT_JWKS_URL',
    'jwt.jwksUrl',
    orNull(webAddress()),
    'address of a JSON Web Key Set; https, on loopback http too',
  ),
  part(
    'JWT_ALGORITHMS',
    words([], wordsAmong(JWT_ALGORITHMS)),
    'allowed algorithms; empty = HS256 with a secret, RS256 with a public key or a key set',
  ),
  setting(
    'JWT_ISSUER',
    'jwt.issuer',
    orNull(text()),
    'required issuer; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_AUDIENCE',
    'jwt.audience',
    orNull(text()),
    'required audience; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_ROLE_CLAIMS',
    'jwt.roleClaims',
    words(['realm_access.roles', 'roles']),
    'claims that hold roles',
  ),
  setting(
    'JWT_CLOCK_TOLERANCE_S',
    'jwt.clockToleranceSeconds',
    count(0, 600).default(30),
    'clock tolerance, seconds',
  ),
  part(
    'JWT_TYP',
    words(['JWT', 'at+jwt', 'Bearer']),
    'what tokens may call themselves by typ, in the header or as a claim; one that does not say it counts as JWT',
  ),
  setting(
    'JWT_MAX_LIFETIME_S',
    'jwt.maxLifetimeSeconds',
    orNull(count(1)),
    'seconds that a token may be valid for in all; empty = as long as its issuer says',
  ),
  setting('ROLE_USER', 'jwt.roleUser', text('USER').custom(asciiUpperCase), 'role name of users'),
  setting('ROLE_ADMIN', 'jwt.roleAdmin', text('ADMIN').custom(asciiUpperCase), 'role name of administrators'),
  part(
    'ROLE_PERMISSIONS',
    orNull(text()).custom(rolePermissions),
    'what roles may do, docs/authentication.md; empty = USER=read,write,define,draft;ADMIN=*;AUDITOR=audit;READER=read',
  ),
  setting(
    'BASIC_USERS_FILE',
    'basicUsersFile',
    orNull(text()),
    'users with passwords, written by everchart user add',
  ),
  part(
    'OIDC_ISSUER',
    webAddress(),
    'identity provider where the console signs in, by code flow with PKCE; https, on loopback http too',
  ),
  part('OIDC_CLIENT_ID', text(''), 'public client of the console there; needed with OIDC_ISSUER'),
  setting(
    'CONSOLE_TERRITORY',
    'consoleTerritory',
    orNull(text().valid(...codeSetCodes('ISO_3166-1').keys())),
    "country, such as DE, of documents that are made in the console; empty = that of the browser's language",
  ),
  setting(
    'CONSOLE_IDLE_MINUTES',
    'consoleIdleMinutes',
    count(0, 1440)
      .default(15)
      .custom((minutes: number) => minutes || null),
    'minutes after which the console is locked for whoever has signed in and touches nothing; 0 = never',
  ),
  setting(
    'PATIENT_BANNER_PATHS',
    'patientBannerPaths',
    words([], bannerPaths),
    'comma list of paths of ELEMENTs that the console shows above a record, docs/console.md; empty = those of the EHR_STATUS',
  ),
  setting(
    'COMMITTER_MUST_BE_USER',
    'committerMustBeUser',
    flag(false),
    'whether naming another committer needs the permission commit_for_others',
  ),
  setting(
    'QUERY_OWNERS',
    'queryOwners',
    flag(false),
    'whether a name space of stored queries belongs to who stored in it first; others need the permission admin',
  ),
  setting(
    'ADMIN_API_ACTIVE',
    'adminApiActive',
    flag(false),
    'whether /rest/admin exists; needs a key or BASIC_USERS_FILE',
  ),
  setting(
    'ADMIN_ALLOW_DELETE_ALL',
    'adminAllowDeleteAll',
    flag(true),
    'whether all templates can be deleted at once',
  ),
  setting(
    'ADMIN_ALLOW_DELETE_ALL_EHRS',
    'adminAllowDeleteAllEhrs',
    flag(false),
    'whether DELETE admin/ehr/all of ITS-REST 1.1.0 removes all EHRs where it names none: for development and tests',
  ),
  setting(
    'ACCESS_MODE',
    'accessMode',
    choice(['off', 'dry', 'observe', 'enforce'], 'off'),
    'policies of access, docs/access.md: dry = they can be kept and tried at /rest/admin/policies and refuse nothing; observe = the same, and the audit notes what they would hide; enforce = they hold; empty = off, and no start where policies or marks are kept',
  ),
  setting(
    'ACCESS_REFUSED',
    'accessRefused',
    choice(['404', '403'], '404'),
    'with ACCESS_MODE=enforce, for what policies hide: 404 = as if it were not there; 403 = it is said that it is',
  ),
  setting(
    'ACCESS_REFUSED_MS',
    'accessRefusedMs',
    count(0, 10000).default(20),
    'where policies, marks or scopes hold, a refusal is answered so long after its request began, or a multiple of it, so that time does not tell what is hidden; 0 = at once',
  ),
  setting(
    'CLAIM_ORGANISATION',
    'jwt.claimOrganisation',
    text('organisation'),
    'claim with the organisation of the user, for policies; a path such as ext.organisation',
  ),
  setting(
    'CLAIM_EHR',
    'jwt.claimEhr',
    text('ehrId'),
    'claim with the EHR id that an application was opened for: for scopes patient/…',
  ),
  setting(
    'CLAIM_OWN_EHR',
    'jwt.claimOwnEhr',
    text('ownEhrId'),
    'claim with the EHR id of the user himself, who is a patient: for policies, the marks that he sets and the report about his record',
  ),
  setting(
    'CLAIM_PURPOSE',
    'jwt.claimPurpose',
    text('purpose_of_use'),
    'claim with what the user asks for, for policies: a code of HL7 PurposeOfUse such as TREAT, or one of PURPOSES_OF_USE',
  ),
  setting(
    'PURPOSES_OF_USE',
    'jwt.otherPurposes',
    words(),
    'comma list of other values that the claim of the purpose may have; none of them is research, and a token with yet another is 401',
  ),
  setting(
    'SMART_SCOPES',
    'smartScopes',
    choice(['off', 'on', 'required'], 'off'),
    'scopes of SMART on openEHR, docs/smart.md: on = a token that has any may do what they grant; required = one that has none may do nothing; needs AUTH=jwt',
  ),
  setting(
    'SMART_AUTHORIZATION_ENDPOINT',
    'smartAuthorizationEndpoint',
    orNull(webAddress()),
    'where applications sign in, as /.well-known/smart-configuration says; empty = what the provider of OIDC_ISSUER or JWT_ISSUER says',
  ),
  setting(
    'SMART_TOKEN_ENDPOINT',
    'smartTokenEndpoint',
    orNull(webAddress()),
    'where applications get tokens; set with SMART_AUTHORIZATION_ENDPOINT',
  ),
  part(
    'INTROSPECTION_URL',
    webAddress(),
    'where tokens that are no JWT are introspected (RFC 7662), docs/authentication.md; https, on loopback http too; needs JWT_ISSUER and JWT_AUDIENCE',
  ),
  part(
    'INTROSPECTION_CLIENT_ID',
    text(''),
    'client that this server is there; needed with INTROSPECTION_URL',
  ),
  part('INTROSPECTION_CLIENT_SECRET', text(''), 'its secret; needed with INTROSPECTION_URL'),
  setting(
    'POLICIES_MAX',
    'policiesMax',
    count(1).default(10_000),
    'policies of access that there may be; more are 422',
  ),
  setting(
    'AUDIT_READS',
    'auditReads',
    flag(false),
    'whether reads of clinical data and queries are recorded; writes and refusals always are, and reads once a policy holds (ACCESS_MODE=enforce)',
  ),
  setting(
    'AUDIT_RETENTION_YEARS',
    'auditRetentionYears',
    orNull(count(3, 200)),
    'years that records of the audit are kept, 3 or more: `everchart audit prune` removes what is older, and nothing else; empty = what it is told',
  ),
  setting('STATUS_ENDPOINT', 'statusEndpoint', flag(true), 'whether /rest/status exists'),
  setting(
    'STATUS_EHRBASE_VERSION',
    'statusEhrbaseVersion',
    text(''),
    'what /rest/status answers as ehrbase_version, for tools that tell servers apart by it; empty: no such member',
  ),
  setting(
    'MANAGEMENT_ENDPOINTS',
    'managementEndpoints',
    words(['health'], managementEndpoints),
    'comma list of health, info, env, metrics, prometheus, loggers, or all',
  ),
  setting(
    'MANAGEMENT_ACCESS',
    'managementAccess',
    choice(['ADMIN_ONLY', 'PRIVATE', 'PUBLIC'], 'ADMIN_ONLY'),
    'who may read /management',
  ),
  setting(
    'MANAGEMENT_PORT',
    'managementPort',
    orNull(count(0, 65535)),
    'port of its own for /management, which PORT then does not serve; 0 = any free one; empty = PORT',
  ),
];

function managementEndpoints(value: string, helpers: Joi.CustomHelpers<string>): string | Joi.ErrorReport {
  const named = wordsAmong([...MANAGEMENT, 'all'])(value, helpers);
  return named === value && commaList(value).includes('all') ? MANAGEMENT.join() : named;
}

function rolePermissions(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const { problems } = readRolePermissions(value);
  return problems.length === 0 ? value : helpers.message({ custom: problems.join('; ') });
}
