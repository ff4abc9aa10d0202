import { FIELD, LEAF_FIELD } from '../../index/document.js';
import type { Stage } from '../../index/stage.js';
import type { IndexCondition } from '../../index/condition.js';
import { demandsOf, type DocumentsStep } from '../../plan/steps.js';
import { inVersions } from './document-scope.js';
import { counted } from '../../../openehr/base/work.js';

/** The match of the first documents of an operand of FROM: necessary, not sufficient. */
export function documentsMatch(step: DocumentsStep): Stage {
  const { index, exact } = step;
  return inVersions([...demandsOf(step), ...counted(index).map(indexMatch), ...exact], step);
}

/** Where a lower bound of the first leaf condition stands in the match of one branch. */
export const LEAF_BOUND: readonly string[] = [FIELD.leaves, '$elemMatch', LEAF_FIELD.value, '$gte'];

/** An index condition as a match. */
function indexMatch(condition: IndexCondition): Stage {
  switch (condition.kind) {
    case 'field':
      return condition.match;
    case 'leaf':
      return {
        [FIELD.leaves]: {
          $elemMatch: { [LEAF_FIELD.key]: condition.key, [LEAF_FIELD.value]: condition.range },
        },
      };
    case 'and':
      return { $and: counted(condition.operands).map(indexMatch) };
    case 'or':
      return { $or: counted(condition.operands).map(indexMatch) };
  }
}
