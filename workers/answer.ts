import { CdrError, type ErrorCode, type ErrorDetails } from '../openehr/base/errors.js';

/** What a job gives back over the boundary between threads: its value, or the refusal of what it was given. */
export type Answer<T> =
  | { readonly value: T }
  | {
      readonly refused: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details: Pick<ErrorDetails, 'violations' | 'problems'>;
      };
    };

/** Runs a job; errors lose their class between threads, so that a `CdrError` goes over as data. */
export function answerOf<T>(job: () => T): Answer<T> {
  try {
    return { value: job() };
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const { code, message, details } = error;
    const { violations, problems } = details;
    return {
      refused: {
        code,
        message,
        details: { ...(violations && { violations }), ...(problems && { problems }) },
      },
    };
  }
}

/** The value of an answer. @throws CdrError that the job refused with */
export function valueOf<T>(answer: Answer<T>): T {
  if ('value' in answer) return answer.value;
  const { code, message, details } = answer.refused;
  throw new CdrError(code, message, details);
}
