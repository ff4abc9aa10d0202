/** A policy to begin with. */
interface ReadyPolicy {
  readonly id: string;
  /** In Cedar. */
  readonly policy: string;
}

/** The policies of a part of docs/access.md: each below a heading that is its id. */
export function readyPoliciesIn(markdown: string): ReadyPolicy[] {
  return markdown
    .split('\n### ')
    .slice(1)
    .flatMap((part) => {
      const [, id] = /^`([^`]+)`/.exec(part) ?? [];
      const [, policy] = /```cedar\n([^`]*)```/.exec(part) ?? [];
      return id === undefined || policy === undefined ? [] : [{ id, policy }];
    });
}
