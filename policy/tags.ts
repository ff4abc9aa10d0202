import { all, any, FALSE, not, type Condition, type TagLeaf } from './condition.js';

/** All that a condition asks of tags. */
export function tagLeaves(condition: Condition): readonly TagLeaf[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.flatMap((each) => tagLeaves(each));
    case 'not':
      return tagLeaves(condition.of);
    case 'tagged':
    case 'tag':
    case 'emptyTag':
      return [condition];
    default:
      return [];
  }
}

/**
 * A condition with the ids of EHRs where it asks for tags: lists and queries are narrowed by these, whatever an object is stored in.
 * `ehrsOf`: those of which the tags fit; null: they are too many to be named, and the tag is asked for as before.
 */
export function withEhrsNamed(
  condition: Condition,
  ehrsOf: (leaf: TagLeaf) => readonly string[] | null,
): Condition {
  switch (condition.kind) {
    case 'all':
      return all(condition.of.map((each) => withEhrsNamed(each, ehrsOf)));
    case 'any':
      return any(condition.of.map((each) => withEhrsNamed(each, ehrsOf)));
    case 'not':
      return not(withEhrsNamed(condition.of, ehrsOf));
    case 'tagged':
    case 'tag':
    case 'emptyTag': {
      const among = ehrsOf(condition);
      if (among === null) return condition;
      return among.length === 0 ? FALSE : { kind: 'equals', attribute: 'ehr_id', among };
    }
    default:
      return condition;
  }
}

/** The same condition without asking whether a tag is there where its value is asked for too, as Cedar demands: few EHRs have that value. */
export function withoutImpliedTags(condition: Condition): Condition {
  switch (condition.kind) {
    case 'all': {
      const members = condition.of.map((each) => withoutImpliedTags(each));
      const isImplied = (each: Condition): boolean =>
        each.kind === 'tagged' && members.some((other) => other !== each && implies(other, each.key));
      return all(members.filter((each) => !isImplied(each)));
    }
    case 'any':
      return any(condition.of.map((each) => withoutImpliedTags(each)));
    case 'not':
      return not(withoutImpliedTags(condition.of));
    default:
      return condition;
  }
}

/** Whether what a condition asks of the values of a tag holds only where that is there. */
function implies(condition: Condition, key: string): boolean {
  switch (condition.kind) {
    case 'tag':
    case 'emptyTag':
      return condition.key === key;
    case 'all':
      return condition.of.some((each) => implies(each, key));
    case 'any':
      return condition.of.every((each) => implies(each, key));
    default:
      return false;
  }
}
