import type { Violation } from '../../openehr/base/violation.js';
import { CdrError } from '../../openehr/base/errors.js';
import { publishTerminologyFailure } from '../../database/events.js';
import type { TerminologySettings } from '../../config/settings.js';
import type { ValueSetCode } from '../../openehr/template/validate/validate.js';
import { terminologyServer, type TerminologyServer } from './terminology-server.js';

/**
 * Violations of the codes that a template binds to external value sets
 * (docs/spec/formats.md#template-rules). Without a terminology server nothing is checked; when it fails,
 * `TERMINOLOGY_FAIL_ON_ERROR` decides whether the commit fails or the check is skipped.
 * @throws bad-gateway
 */
export async function valueSetViolations(
  settings: TerminologySettings,
  codes: readonly ValueSetCode[],
): Promise<Violation[]> {
  const server = terminologyServer(settings);
  if (server === null) return [];
  const violations: Violation[] = [];
  for (const each of codes) {
    if (!(await isMember(server, each, settings.failOnError))) {
      violations.push({
        path: each.path,
        aqlPath: each.aqlPath,
        code: 'not-in-value-set',
        message: `Invalid terminology: ${each.code} is not in the value set ${each.valueSetUrl}`,
        expected: [each.valueSetUrl],
        found: each.code,
        attribute: 'defining_code',
      });
    }
  }
  return violations;
}

async function isMember(
  server: TerminologyServer,
  { valueSetUrl, terminologyId, code }: ValueSetCode,
  failOnError: boolean,
): Promise<boolean> {
  const isAddress = /^(https?:\/\/|urn:)/.test(terminologyId);
  const system = isAddress ? { system: terminologyId } : { inferSystem: 'true' };
  const parameters = new URLSearchParams({ url: valueSetUrl, code, ...system });
  try {
    const answer = await server.ask('validate', parameters.toString());
    return answer.kind === 'boolean' && answer.value;
  } catch (error) {
    if (failOnError || !(error instanceof CdrError) || error.code !== 'bad-gateway') throw error;
    publishTerminologyFailure({ valueSetUrl });
    return true;
  }
}
