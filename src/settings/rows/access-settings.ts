import Joi from 'joi';
import { codeSetCodes } from '../../../openehr/rm/terminology/openehr.js';
import { readRolePermissions } from '../../identity/identifier.js';
import { bannerPaths, choice, count, flag, list, pemText, text, webAddress } from '../setting-checks.js';
import { setting, type SettingDescription } from './setting.js';

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
/** Every management endpoint. */
export const MANAGEMENT: readonly string[] = ['health', 'info', 'env', 'metrics', 'prometheus', 'loggers'];

/** Who may do what: tokens, passwords, roles, the administration API. In the order of the documentation. */
export const ACCESS_SETTINGS: readonly SettingDescription[] = [
  setting(
    'AUTH',
    Joi.string().replace(/\s/g, '').valid('none', 'jwt', 'basic', 'jwt,basic', 'basic,jwt').empty(''),
    '',
    'none, jwt, basic or jwt,basic for the standard API; empty = none on a loopback HOST, else jwt',
  ),
  setting(
    'AUTH_NONE_ANYWHERE',
    flag(false),
    'false',
    'whether AUTH=none is allowed on a HOST that other machines reach: everybody there reads and writes',
  ),
  setting('JWT_SECRET', text().default(''), '', 'HMAC secret, at least 32 bytes'),
  setting(
    'JWT_PUBLIC_KEY',
    text().default('').custom(pemText),
    '',
    'public key, PEM text or path of a PEM file',
  ),
  setting('JWT_JWKS_URL', webAddress(), '', 'address of a JSON Web Key Set; https, on loopback http too'),
  setting(
    'JWT_ALGORITHMS',
    list(JWT_ALGORITHMS),
    '',
    'allowed algorithms; empty = HS256 with a secret, RS256 with a public key or a key set',
  ),
  setting(
    'JWT_ISSUER',
    text().default(''),
    '',
    'required issuer; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_AUDIENCE',
    text().default(''),
    '',
    'required audience; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_ROLE_CLAIMS',
    text().empty('').default('realm_access.roles,roles'),
    'realm_access.roles,roles',
    'claims that hold roles',
  ),
  setting('JWT_CLOCK_TOLERANCE_S', count().min(0).max(600).default(30), '30', 'clock tolerance, seconds'),
  setting(
    'JWT_TYP',
    text().empty('').default('JWT,at+jwt,Bearer'),
    'JWT,at+jwt,Bearer',
    'what tokens may call themselves by typ, in the header or as a claim; one that does not say it counts as JWT',
  ),
  setting(
    'JWT_MAX_LIFETIME_S',
    count().min(1),
    '',
    'seconds that a token may be valid for in all; empty = as long as its issuer says',
  ),
  setting('ROLE_USER', text().empty('').default('USER'), 'USER', 'role name of users'),
  setting('ROLE_ADMIN', text().empty('').default('ADMIN'), 'ADMIN', 'role name of administrators'),
  setting(
    'ROLE_PERMISSIONS',
    text().empty('').custom(rolePermissions),
    '',
    'what roles may do, docs/authentication.md; empty = USER=read,write,define,draft;ADMIN=*;AUDITOR=audit;READER=read',
  ),
  setting('BASIC_USERS_FILE', text().default(''), '', 'users with passwords, written by everchart user add'),
  setting(
    'OIDC_ISSUER',
    webAddress(),
    '',
    'identity provider where the console signs in, by code flow with PKCE; https, on loopback http too',
  ),
  setting(
    'OIDC_CLIENT_ID',
    text().default(''),
    '',
    'public client of the console there; needed with OIDC_ISSUER',
  ),
  setting(
    'CONSOLE_TERRITORY',
    text()
      .empty('')
      .valid(...codeSetCodes('ISO_3166-1').keys()),
    '',
    "country, such as DE, of documents that are made in the console; empty = that of the browser's language",
  ),
  setting(
    'CONSOLE_IDLE_MINUTES',
    count().min(0).max(1440).default(15),
    '15',
    'minutes after which the console is locked for whoever has signed in and touches nothing; 0 = never',
  ),
  setting(
    'PATIENT_BANNER_PATHS',
    text().default('').custom(bannerPaths),
    '',
    'comma list of paths of ELEMENTs that the console shows above a record, docs/console.md; empty = those of the EHR_STATUS',
  ),
  setting(
    'COMMITTER_MUST_BE_USER',
    flag(false),
    'false',
    'whether naming another committer needs the permission commit_for_others',
  ),
  setting(
    'QUERY_OWNERS',
    flag(false),
    'false',
    'whether a name space of stored queries belongs to who stored in it first; others need the permission admin',
  ),
  setting(
    'ADMIN_API_ACTIVE',
    flag(false),
    'false',
    'whether /rest/admin exists; needs a key or BASIC_USERS_FILE',
  ),
  setting('ADMIN_ALLOW_DELETE_ALL', flag(true), 'true', 'whether all templates can be deleted at once'),
  setting(
    'ADMIN_ALLOW_DELETE_ALL_EHRS',
    flag(false),
    'false',
    'whether DELETE admin/ehr/all of ITS-REST 1.1.0 removes all EHRs where it names none: for development and tests',
  ),
  setting(
    'AUDIT_READS',
    flag(false),
    'false',
    'whether reads of clinical data and queries are recorded; writes and refusals always are',
  ),
  setting('STATUS_ENDPOINT', flag(true), 'true', 'whether /rest/status exists'),
  setting(
    'STATUS_EHRBASE_VERSION',
    text(),
    '',
    'what /rest/status answers as ehrbase_version, for tools that tell servers apart by it; empty: no such member',
  ),
  setting(
    'MANAGEMENT_ENDPOINTS',
    list([...MANAGEMENT, 'all'], 'health'),
    'health',
    'comma list of health, info, env, metrics, prometheus, loggers, or all',
  ),
  setting(
    'MANAGEMENT_ACCESS',
    choice(['ADMIN_ONLY', 'PRIVATE', 'PUBLIC'], 'ADMIN_ONLY'),
    'ADMIN_ONLY',
    'who may read /management',
  ),
  setting(
    'MANAGEMENT_PORT',
    count().min(0).max(65535),
    '',
    'port of its own for /management, which PORT then does not serve; 0 = any free one; empty = PORT',
  ),
];

function rolePermissions(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const { problems } = readRolePermissions(value);
  return problems.length === 0 ? value : helpers.message({ custom: problems.join('; ') });
}
