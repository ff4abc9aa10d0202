import type { AccessComparison, AccessDecision, Principal, SeenChange } from '../../../api/access.js';
import type { MessageKey } from '../../../messages/en.js';

/** A sentence: its message and what is put into it. */
interface Sentence {
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>>;
  /** Id of the policy that it is about. */
  readonly policy?: string;
}

/** Why something is decided as it is. */
export function reasonsOf({ decision, policies, marks }: AccessDecision): Sentence[] {
  const isPermitted = decision === 'permit';
  const said = policies.map((id): Sentence => ({
    key: isPermitted ? 'try.permits' : 'try.forbids',
    values: { id },
    policy: id,
  }));
  const marked = marks.map((kind): Sentence => ({ key: `try.mark.${kind}` }));
  if (said.length + marked.length > 0) return [...said, ...marked];
  return [{ key: isPermitted ? 'try.unrestricted' : 'try.unsaid' }];
}

/** How many more or fewer somebody would see; empty: as many. */
export function changeSentences({ gained, lost }: SeenChange, of: 'records' | 'contents'): Sentence[] {
  return [
    ...(lost > 0 ? [{ key: `compare.${of}.lost`, values: { count: lost } } as const] : []),
    ...(gained > 0 ? [{ key: `compare.${of}.gained`, values: { count: gained } } as const] : []),
  ];
}

/** Whether a draft decides anything that was looked at otherwise. */
export function changesNothing({ differences }: AccessComparison): boolean {
  return differences.every(({ ehrs, versions }) =>
    [ehrs, versions].every(({ gained, lost }) => gained + lost === 0),
  );
}

/** Who somebody is, in a line: `ada · PHYSICIAN, NIGHT · 3B`. */
export function principalText({ sub, roles, organisation, purpose, ehr }: Principal): string {
  return [sub, roles.join(', '), organisation, purpose, ehr?.slice(0, 8)].filter(Boolean).join(' · ');
}
