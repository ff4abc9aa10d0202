import type { Dialect } from '../../openehr/base/dialect.js';
import type { AnswerDescription, Operation, OperationGroup } from './operation/operation.js';
import { STANDARD_API } from './request/request-state.js';

/** Whether an operation is of the standard API, the only one that has dialects. */
export function isStandard({ path }: Pick<Operation, 'path'>): boolean {
  return path === STANDARD_API || path.startsWith(`${STANDARD_API}/`);
}

/** Whether an answer of success to this method tells of something new, or of a new state of it. */
export function makesNew(method: string): boolean {
  return method === 'POST' || method === 'PUT';
}

/** The rows of the table as a dialect answers them: `src/middleware/dialect.ts` does what they say. */
export function groupsIn(groups: readonly OperationGroup[], dialect: Dialect): readonly OperationGroup[] {
  if (!dialect.isLocationOfNewOnly) return groups;
  return groups.map((group) => ({
    ...group,
    operations: group.operations.map((operation) =>
      isStandard(operation) && !makesNew(operation.method) ? withoutLocation(operation) : operation,
    ),
  }));
}

function withoutLocation(operation: Operation): Operation {
  const responses = Object.entries(operation.responses).map(
    ([status, answer]): [string, AnswerDescription] => [
      status,
      answer.headers === undefined
        ? answer
        : { ...answer, headers: answer.headers.filter((name) => name !== 'Location') },
    ],
  );
  return { ...operation, responses: Object.fromEntries(responses) };
}
