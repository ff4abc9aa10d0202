import Joi from 'joi';
import { ITS_REST_EDITIONS } from '../../../openehr/base/dialect.js';
import { choice, count, flag, orNull, text, webAddress } from '../setting-checks.js';
import { part, setting } from './setting.js';

/** How content is validated and what the API answers. In the order of the documentation. */
export const CONTENT_SETTINGS = [
  setting('CHECK_EXTRA_NODES', 'checkExtraNodes', flag(true), 'refuse nodes that the template does not know'),
  setting('CHECK_RM_RULES', 'checkRmRules', flag(true), 'check the invariants of the reference model'),
  setting(
    'VALIDATION',
    'validation',
    choice(['strict', 'lenient', 'lenient-all'], 'strict'),
    'lenient: imports, and writes with `Prefer: validation=lenient` of who has the permission write_lenient, may bring content of other servers that breaks some rules; lenient-all: every write may',
  ),
  setting(
    'CHECK_CONTAINER_CARDINALITY',
    'checkContainerCardinality',
    flag(true),
    'check cardinalities of containers',
  ),
  setting('TERMINOLOGY_SERVER_URL', 'terminology.serverUrl', orNull(webAddress()), 'FHIR terminology server'),
  setting(
    'TERMINOLOGY_TIMEOUT_MS',
    'terminology.timeoutMs',
    count(1).default(5000),
    'time limit of one call to it',
  ),
  setting(
    'TERMINOLOGY_MAX_QUESTIONS',
    'work.terminologyQuestions',
    count(1).default(20),
    'different questions of one query to it, asked at the same time; more are 422',
  ),
  setting(
    'TERMINOLOGY_FAIL_ON_ERROR',
    'terminology.failOnError',
    flag(false),
    'refuse commits when it fails',
  ),
  setting(
    'ITS_REST',
    'itsRest',
    choice(ITS_REST_EDITIONS, ITS_REST_EDITIONS[0]),
    'edition of ITS-REST that the standard API speaks: 1.0.3 as clients in use read it, or 1.1.0',
  ),
  part(
    'PREFER_MINIMAL_UPDATE_STATUS',
    Joi.number().valid(200, 204).empty(''),
    '200 or 204 for updates without a body; empty = as ITS_REST has it: 200 with 1.0.3, 204 with 1.1.0',
  ),
  setting(
    'PREFER_DEFAULT',
    'preferDefault',
    choice(['minimal', 'identifier', 'representation'], 'minimal'),
    'what writes answer without `Prefer: return=…`: no body, the id of what was written, or all of it',
  ),
  setting(
    'SIGNING',
    'signing',
    choice(['none', 'digest', 'pgp'], 'none'),
    'each new VERSION that no client has signed is signed: digest with its SHA-256, pgp with a key of SIGNING_KEYS_FILE',
  ),
  setting(
    'SIGNING_KEYS_FILE',
    'signingKeysFile',
    orNull(text()),
    'armored OpenPGP keys, one behind the other: the last private one signs with SIGNING=pgp, all of them verify',
  ),
  setting(
    'SIGNING_KEY_PASSPHRASE',
    'signingKeyPassphrase',
    orNull(text()),
    'passphrase of the private key that signs; empty = it has none',
  ),
  setting(
    'EHR_STATUS_AS_REF',
    'ehrStatusAsRef',
    flag(true),
    'show ehr_status of an EHR as a reference unless Prefer: resolve_refs or include=ehr_status asks for it',
  ),
  setting(
    'ACCEPT_FOREIGN_SYSTEM_ID',
    'acceptForeignSystemId',
    flag(true),
    'take audits that name the system_id of another system, and store our own; false = refuse them',
  ),
  setting('API_ALIAS_V1', 'apiAliasV1', flag(true), 'also serve the standard API below /v1'),
  setting(
    'STRICT_PARAMETERS',
    'strictParameters',
    flag(false),
    'refuse unknown query parameters and members of query bodies instead of warning of them; of deletions and of what administration does always',
  ),
];
