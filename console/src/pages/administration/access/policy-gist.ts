/** What a policy is at a glance. */
interface PolicyGist {
  readonly effect: 'permit' | 'forbid';
  /** What whoever wrote it says of it. */
  readonly says: string;
  /** What it is to emergency access, as it is annotated; undefined: nothing. */
  readonly emergency: string | undefined;
  /** Whether it lets count alone. */
  readonly isOfCounts: boolean;
}

/** Strings and comments of Cedar: what looks like a word in them is none. */
const QUIET = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*/g;
const FIRST_LINE = 90;

/** The gist of the text of a policy: its annotation `@description`, else its first comment, else how it begins. */
export function policyGist(text: string): PolicyGist {
  const [, described] = /@\s*description\s*\(\s*"((?:[^"\\]|\\.)*)"\s*\)/.exec(text) ?? [];
  const [, comment] = /^\s*\/\/[ \t]*(.*)/m.exec(text) ?? [];
  const [, emergency] = /@\s*emergency\s*\(\s*"([^"]*)"\s*\)/.exec(text) ?? [];
  const loud = text.replaceAll(QUIET, ' ');
  const isOfCounts = /@\s*counts\b/.test(loud);
  const [effect] = /\b(?:permit|forbid)\b/.exec(loud) ?? [];
  const says = described?.replaceAll(/\\(.)/g, '$1') ?? comment ?? beginning(text);
  return { effect: effect === 'forbid' ? 'forbid' : 'permit', says: says.trim(), emergency, isOfCounts };
}

/** What it asks for, in one line. */
function beginning(text: string): string {
  const whole = text.replaceAll(/\s+/g, ' ').trim();
  return whole.length > FIRST_LINE ? `${whole.slice(0, FIRST_LINE)}…` : whole;
}
