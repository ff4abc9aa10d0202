import Joi from 'joi';
import { ITS_REST_EDITIONS } from '../../../openehr/base/dialect.js';
import { choice, count, flag, webAddress } from '../setting-checks.js';
import { setting, type SettingDescription } from './setting.js';

/** How content is validated and what the API answers. In the order of the documentation. */
export const CONTENT_SETTINGS: readonly SettingDescription[] = [
  setting('CHECK_EXTRA_NODES', flag(true), 'true', 'refuse nodes that the template does not know'),
  setting('CHECK_RM_RULES', flag(true), 'true', 'check the invariants of the reference model'),
  setting(
    'VALIDATION',
    choice(['strict', 'lenient', 'lenient-all'], 'strict'),
    'strict',
    'lenient: imports, and writes with `Prefer: validation=lenient` of who has the permission write_lenient, may bring content of other servers that breaks some rules; lenient-all: every write may',
  ),
  setting('CHECK_CONTAINER_CARDINALITY', flag(true), 'true', 'check cardinalities of containers'),
  setting('TERMINOLOGY_SERVER_URL', webAddress(), '', 'FHIR terminology server'),
  setting('TERMINOLOGY_TIMEOUT_MS', count().min(1).default(5000), '5000', 'time limit of one call to it'),
  setting(
    'TERMINOLOGY_MAX_QUESTIONS',
    count().min(1).default(20),
    '20',
    'different questions of one query to it, asked at the same time; more are 422',
  ),
  setting('TERMINOLOGY_FAIL_ON_ERROR', flag(false), 'false', 'refuse commits when it fails'),
  setting(
    'ITS_REST',
    choice(ITS_REST_EDITIONS, ITS_REST_EDITIONS[0]),
    ITS_REST_EDITIONS[0],
    'edition of ITS-REST that the standard API speaks: 1.0.3 as clients in use read it, or 1.1.0',
  ),
  setting(
    'PREFER_MINIMAL_UPDATE_STATUS',
    Joi.number().valid(200, 204).empty(''),
    '',
    '200 or 204 for updates without a body; empty = as ITS_REST has it: 200 with 1.0.3, 204 with 1.1.0',
  ),
  setting(
    'SIGNING',
    choice(['none', 'digest'], 'none'),
    'none',
    'digest: each new VERSION is signed with its SHA-256, unless a client has signed it',
  ),
  setting(
    'EHR_STATUS_AS_REF',
    flag(true),
    'true',
    'show ehr_status of an EHR as a reference unless Prefer: resolve_refs or include=ehr_status asks for it',
  ),
  setting(
    'ACCEPT_FOREIGN_SYSTEM_ID',
    flag(true),
    'true',
    'take audits that name the system_id of another system, and store our own; false = refuse them',
  ),
  setting('API_ALIAS_V1', flag(true), 'true', 'also serve the standard API below /v1'),
  setting(
    'STRICT_PARAMETERS',
    flag(false),
    'false',
    'refuse unknown query parameters and members of query bodies instead of warning of them; of deletions and of what administration does always',
  ),
];
