import { CdrError } from '../../openehr/base/errors.js';
import { collapsedToken } from '../../openehr/base/text.js';

/** `<base>[.xx[-XX]][.v1[.2[.3]]][.xx[-XX]]`: a template id with its language and version suffixes. */
const TEMPLATE_ID =
  /^(.+?)(?:\.[a-z]{2}(?:-[A-Z]{2})?)?(?:[._ ]v(\d+)(?:\.(\d+))?(?:\.(\d+))?)?(?:\.[a-z]{2}(?:-[A-Z]{2})?)?$/;

const ABOUT = { about: 'other-template' } as const;

interface TemplateName {
  readonly base: string;
  readonly version: readonly number[];
}

/**
 * Validates the template of the next version of a COMPOSITION against the one before: the same, or one of the
 * same base name that is not of a lower version. What older releases stored may have runs of white space, which are one
 * space in a template id. @throws invalid otherwise
 */
export function requireSameTemplate(previous: string | undefined, next: string): void {
  if (previous === undefined) return;
  const stored = collapsedToken(previous);
  if (stored === next) return;
  const from = templateName(stored);
  const to = templateName(next);
  if (from.base !== to.base)
    throw new CdrError('invalid', "Can't update composition to have different template.", ABOUT);
  if (isLower(to.version, from.version))
    throw new CdrError('invalid', "Can't update composition with wrong template version bump.", ABOUT);
}

/** `<base>.v1[.2[.3]]`, with a language suffix where it has one, which is part of the base here. */
const VERSIONED_ID = /^(.+?)[._ ]v(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:\.[a-z]{2}(?:-[A-Z]{2})?)?)$/;

/** Of templates whose ids differ in the version only, those of the latest; in their order. */
export function latestOfEach<T extends { readonly _id: string }>(templates: readonly T[]): T[] {
  const latest = new Map<string, readonly number[]>();
  const named = templates.map((template) => ({ template, ...versionedName(template._id) }));
  for (const { base, version } of named)
    if (isLower(latest.get(base) ?? [-1], version)) latest.set(base, version);
  return named
    .filter(({ base, version }) => !isLower(version, latest.get(base) ?? []))
    .map(({ template }) => template);
}

function versionedName(templateId: string): TemplateName {
  const match = VERSIONED_ID.exec(templateId);
  if (match === null) return { base: templateId, version: [] };
  const [, base = '', ...parts] = match;
  const language = parts.pop() ?? '';
  return { base: base + language, version: parts.map((digits: string | undefined) => Number(digits ?? 0)) };
}

function templateName(templateId: string): TemplateName {
  const [, base = templateId, ...numbers] = TEMPLATE_ID.exec(templateId) ?? [];
  return { base, version: numbers.map((digits: string | undefined) => Number(digits ?? 0)) };
}

function isLower(version: readonly number[], than: readonly number[]): boolean {
  const index = version.findIndex((number, place) => number !== than[place]);
  return index >= 0 && (version[index] ?? 0) < (than[index] ?? 0);
}
