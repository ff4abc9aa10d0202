import { CdrError } from '../base/errors.js';
import { characters } from '../base/work.js';
import { parseOdin, type OdinBlock, type OdinValue } from './odin.js';

/** A code of an archetype in one language. */
interface ArchetypeTerm {
  readonly code: string;
  readonly text: string;
  readonly description?: string;
}

/** What is known of an archetype in ADL 1.4: as far as its source is read. */
export interface Archetype {
  /** `openEHR-EHR-OBSERVATION.blood_pressure.v2` */
  readonly archetypeId: string;
  readonly originalLanguage: string;
  /** The original one first. */
  readonly languages: readonly string[];
  /** Code of the concept, whose term names the archetype. */
  readonly concept: string;
  /** By language. */
  readonly terms: Readonly<Record<string, readonly ArchetypeTerm[]>>;
}

/** AOM 1.4: ARCHETYPE_ID, with its three parts. */
const ARCHETYPE_ID = /^[A-Za-z]\w*-\w+-\w+\.[A-Za-z][\w-]*\.v\d[\w.-]*$/;
/** What is stored, and named in headers and lists, has bounds. */
const MAX_ID_LENGTH = 255;
const MAX_LANGUAGES = 200;
/** As BCP 47 has them, `zh-Hans-CN`; the oldest sources write `en_us`. */
const MAX_LANGUAGE_LENGTH = 20;
const SECTIONS =
  /^(archetype|specialise|specialize|concept|language|description|definition|invariant|ontology|annotations|revision_history)\b/;

interface Section {
  /** What follows its keyword. */
  readonly text: string;
  readonly line: number;
}

/**
 * Reads the source of an archetype in ADL 1.4 far enough to know its id, its languages and what its codes are called; of the
 * definition it only sees that there is one. @throws invalid
 */
export function parseArchetype(source: string): Archetype {
  characters(source);
  const sections = sectionsOf(source);
  const archetypeId = /^(?:\s*\([^)]*\))?\s*(\S+)\s*$/.exec(required(sections, 'archetype').text)?.[1] ?? '';
  if (archetypeId.length > MAX_ID_LENGTH || !ARCHETYPE_ID.test(archetypeId))
    throw unreadable(`its id is no ARCHETYPE_ID of at most ${MAX_ID_LENGTH} characters`);
  const concept = /^\s*\[(at\d+(?:\.\d+)*)\]/.exec(required(sections, 'concept').text)?.[1];
  if (concept === undefined) throw unreadable('its concept is no [at-code]');
  if (required(sections, 'definition').text.trim() === '') throw unreadable('its definition is empty');
  const language = odinOf(required(sections, 'language'));
  const ontology = odinOf(required(sections, 'ontology'));
  const originalLanguage = codeOf(language.original_language);
  if (originalLanguage === null) throw unreadable('it has no original_language');
  const terms = termsOf(ontology);
  const known = Object.hasOwn(terms, originalLanguage) ? (terms[originalLanguage] ?? []) : [];
  if (!known.some(({ code }) => code === concept))
    throw unreadable(`its concept ${concept} has no term in ${originalLanguage}`);
  const others = Object.keys(blockOf(language.translations)).filter((each) => each !== originalLanguage);
  const languages = [originalLanguage, ...others];
  requireFew(languages);
  requireFew(Object.keys(terms));
  return { archetypeId, originalLanguage, languages, concept, terms };
}

function requireFew(languages: readonly string[]): void {
  if (languages.length > MAX_LANGUAGES) throw unreadable(`it has more than ${MAX_LANGUAGES} languages`);
  if (languages.some((code) => code.length > MAX_LANGUAGE_LENGTH))
    throw unreadable(`a code of a language is longer than ${MAX_LANGUAGE_LENGTH} characters`);
}

/** By keyword, which stands at the beginning of a line. A line within a text, which may go over several, begins with none. */
function sectionsOf(source: string): ReadonlyMap<string, Section> {
  const sections = new Map<string, Section>();
  let current: { name: string; line: number; lines: string[] } | null = null;
  let isInText = false;
  const end = (): void => {
    if (current !== null) sections.set(current.name, { text: current.lines.join('\n'), line: current.line });
  };
  source
    .replace(/^\uFEFF/, '')
    .split(/\r\n?|\n/)
    .forEach((line, index) => {
      const keyword = isInText ? undefined : SECTIONS.exec(line)?.[1];
      if (keyword === undefined) {
        current?.lines.push(line);
        isInText = isTextOpen(current?.name, line, isInText);
        return;
      }
      end();
      if (sections.has(keyword)) throw unreadable(`the section ${keyword} stands twice`);
      const behind = line.slice(keyword.length);
      current = { name: keyword, line: index + 1, lines: [behind] };
      isInText = isTextOpen(keyword, behind, false);
    });
  end();
  return sections;
}

/** Sections that are no ODIN: their texts end with the line, and their patterns may hold any sign. */
const IN_LINES: readonly string[] = ['definition', 'invariant'];

/** Whether a text goes on after a line of a section. */
function isTextOpen(section: string | undefined, line: string, wasOpen: boolean): boolean {
  if (section === undefined || IN_LINES.includes(section)) return false;
  let isOpen = wasOpen;
  for (const [token] of line.matchAll(/\\.|"|--/g)) {
    if (token === '"') isOpen = !isOpen;
    else if (token === '--' && !isOpen) return false;
  }
  return isOpen;
}

function required(sections: ReadonlyMap<string, Section>, name: string): Section {
  const section = sections.get(name);
  if (section === undefined) throw unreadable(`it has no section ${name}`);
  return section;
}

function odinOf({ text, line }: Section): OdinBlock {
  return parseOdin(text, line);
}

/** `["en"] = <items = <["at0000"] = <text = <"…"> …>>>` in both forms of ADL 1.4. */
function termsOf(ontology: OdinBlock): Record<string, ArchetypeTerm[]> {
  const languages = Object.entries(blockOf(ontology.term_definitions));
  return Object.fromEntries(
    languages.map(([language, given]) => {
      const { items } = blockOf(given);
      return [
        language,
        Object.entries(blockOf(items ?? given)).flatMap(([code, term]) => termOf(code, term)),
      ];
    }),
  );
}

function termOf(code: string, value: OdinValue): ArchetypeTerm[] {
  const { text, description } = blockOf(value);
  if (typeof text !== 'string') return [];
  return [{ code, text, ...(typeof description === 'string' && { description }) }];
}

function blockOf(value: OdinValue | undefined): OdinBlock {
  return typeof value === 'object' ? value : {};
}

/** `en` of `[ISO_639-1::en]`. */
function codeOf(value: OdinValue | undefined): string | null {
  return typeof value === 'string'
    ? (/^\[?[\w.-]+(?:\([^)]*\))?::([\w-]+)\]?$/.exec(value)?.[1] ?? null)
    : null;
}

function unreadable(reason: string): CdrError {
  return new CdrError('invalid', `the archetype cannot be read: ${reason}`);
}
