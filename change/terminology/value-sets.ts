import type { Violation } from '../../openehr/base/violation.js';
import { CdrError } from '../../openehr/base/errors.js';
import { publishTerminologyFailure } from '../../database/events.js';
import type { TerminologySettings } from '../../config/settings.js';
import type { ValueSetCode } from '../../openehr/template/validate.js';
import { terminologyServer, type TerminologyServer } from './terminology-server.js';

/**
 * Violations of the codes that a template binds to external value sets
 * (docs/spec/formats.md#template-rules). Without a terminology server nothing is checked; when it fails,
 * `TERMINOLOGY_FAIL_ON_ERROR` decides whether the commit fails or the check is skipped. Each different question is asked once,
 * some at a time, no longer than `patience`.
 * @throws bad-gateway; the reason of `end`
 */
export async function valueSetViolations(
  settings: TerminologySettings,
  codes: readonly ValueSetCode[],
  patience: QuestionTime | null = null,
): Promise<Violation[]> {
  const server = terminologyServer(settings);
  if (server === null) return [];
  const questions = new Map(codes.map((each) => [questionOf(each), each.valueSetUrl]));
  const no = await refusedBy(server, questions, { patience, failOnError: settings.failOnError });
  return codes.filter((each) => no.has(questionOf(each))).map(notInValueSet);
}

/** How long questions are asked for one request, all its COMPOSITIONs together. */
export interface QuestionTime {
  /** Aborted when nobody waits for the answer any more. */
  readonly end: AbortSignal;
  /** Aborted when the time is over: the server has failed then. */
  readonly time: AbortSignal;
}

/** Questions of one COMPOSITION that are open at a time. */
const AT_ONCE = 10;

interface Asking {
  readonly patience: QuestionTime | null;
  readonly failOnError: boolean;
}

/** The questions, each with its value set, that the server answers with no; all are asked once, some at a time. */
async function refusedBy(
  server: TerminologyServer,
  questions: ReadonlyMap<string, string>,
  { patience, failOnError }: Asking,
): Promise<ReadonlySet<string>> {
  const no = new Set<string>();
  const failed = new AbortController();
  const ends = patience === null ? [] : [patience.end, patience.time];
  const end = AbortSignal.any([failed.signal, ...ends]);
  const rest = questions.entries();
  const askOn = async (): Promise<void> => {
    for (const [question, valueSetUrl] of rest) {
      const answer = await answerTo(server, question, end).catch((error: unknown) => {
        const failure = patience?.time.aborted === true && !patience.end.aborted ? tooSlow() : error;
        if (failOnError || !isFailureOfServer(failure)) throw failure;
        publishTerminologyFailure({ valueSetUrl });
        return true;
      });
      if (!answer) no.add(question);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  return no;
}

async function answerTo(server: TerminologyServer, question: string, end: AbortSignal): Promise<boolean> {
  end.throwIfAborted();
  const answer = await server.ask('validate', question, end);
  return answer.kind === 'boolean' && answer.value;
}

function isFailureOfServer(error: unknown): boolean {
  return error instanceof CdrError && error.code === 'bad-gateway';
}

function tooSlow(): CdrError {
  return new CdrError('bad-gateway', 'the terminology server takes too long');
}

function notInValueSet({ path, aqlPath, code, valueSetUrl }: ValueSetCode): Violation {
  return {
    path,
    aqlPath,
    code: 'not-in-value-set',
    message: `Invalid terminology: ${code} is not in the value set ${valueSetUrl}`,
    expected: [valueSetUrl],
    found: code,
    attribute: 'defining_code',
  };
}

/** Parameters of the operation that validates a code. */
function questionOf({ valueSetUrl, terminologyId, code }: ValueSetCode): string {
  const isAddress = /^(https?:\/\/|urn:)/.test(terminologyId);
  const system = isAddress ? { system: terminologyId } : { inferSystem: 'true' };
  return new URLSearchParams({ url: valueSetUrl, code, ...system }).toString();
}
