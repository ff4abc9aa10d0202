import { readFileSync } from 'node:fs';

/** Names of the groups of the openEHR terminology that the reference model refers to. */
export type GroupName =
  | 'attestation reason'
  | 'audit change type'
  | 'composition category'
  | 'event math function'
  | 'instruction states'
  | 'instruction transitions'
  | 'MultiMedia'
  | 'null flavours'
  | 'participation function'
  | 'participation mode'
  | 'property'
  | 'setting'
  | 'subject relationship'
  | 'term mapping purpose'
  | 'version lifecycle state';

/** Terminology ids of the code sets that the reference model refers to. */
export type CodeSetName =
  | 'ISO_639-1'
  | 'ISO_3166-1'
  | 'IANA_character-sets'
  | 'IANA_media-types'
  | 'openehr_compression_algorithms'
  | 'openehr_integrity_check_algorithms'
  | 'openehr_normal_statuses';

/** The terminology id of all groups. */
export const OPENEHR = 'openehr';

type Rubrics = Readonly<Record<string, string>>;

interface TerminologyFile {
  readonly groups: Readonly<Record<string, Readonly<Record<string, Rubrics>>>>;
  readonly codesets: Readonly<
    Record<string, { readonly external_id: string; readonly codes: Readonly<Record<string, string>> }>
  >;
}

const FILE = JSON.parse(
  readFileSync(new URL('./openehr-terminology.json', import.meta.url), 'utf8'),
) as TerminologyFile;

/** Rubrics by language, by code, by group: 532 is `complete` in one group and `completed` in another. */
const GROUPS: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>>> = new Map(
  Object.entries(FILE.groups).map(([group, codes]) => [
    group,
    new Map(Object.entries(codes).map(([code, rubrics]) => [code, new Map(translated(rubrics))])),
  ]),
);

const CODE_SETS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.values(FILE.codesets).map((set) => [set.external_id, new Map(Object.entries(set.codes))]),
);

/** Codes by lower-case rubric of any language, by group. The English rubric wins. */
const CODES_BY_RUBRIC: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Array.from(GROUPS, ([group, codes]) => [group, codesByRubric(codes)]),
);

/** The file marks what nobody has translated yet as `*rubric(en)`. */
function translated(rubrics: Rubrics): [string, string][] {
  return Object.entries(rubrics).filter(([, text]) => !text.startsWith('*'));
}

function codesByRubric(codes: ReadonlyMap<string, ReadonlyMap<string, string>>): Map<string, string> {
  const byRubric = new Map<string, string>();
  for (const language of ['en', 'es', 'ja', 'pt'])
    for (const [code, rubrics] of codes) {
      const text = rubrics.get(language)?.toLowerCase();
      if (text !== undefined && !byRubric.has(text)) byRubric.set(text, code);
    }
  return byRubric;
}

/** Whether the group has the code. */
export function groupHas(group: GroupName, code: string): boolean {
  return GROUPS.get(group)?.has(code) ?? false;
}

/** All codes of a group with their English rubrics, in the order of the terminology. */
export function groupCodes(group: GroupName): ReadonlyMap<string, string> {
  const codes = GROUPS.get(group) ?? new Map<string, ReadonlyMap<string, string>>();
  return new Map(Array.from(codes, ([code, rubrics]) => [code, rubrics.get('en') ?? '']));
}

/**
 * The rubric of a code in a language (`es`, `es-AR`); in English where there is no translation. Null when the
 * group does not have the code.
 */
export function rubric(group: GroupName, code: string, language: string): string | null {
  const rubrics = GROUPS.get(group)?.get(code);
  if (rubrics === undefined) return null;
  return rubrics.get(language.slice(0, 2).toLowerCase()) ?? rubrics.get('en') ?? null;
}

/** The code for a code of the group, or for a rubric of it in any language and letter case; else null. */
export function codeOf(group: GroupName, rubricOrCode: string): string | null {
  if (groupHas(group, rubricOrCode)) return rubricOrCode;
  return CODES_BY_RUBRIC.get(group)?.get(rubricOrCode.toLowerCase()) ?? null;
}

/** Whether the code set has the code. Languages, character sets and media types in any letter case (their RFCs). */
export function codeSetHas(codeSet: CodeSetName, code: string): boolean {
  if (CODE_SETS.get(codeSet)?.has(code) === true) return true;
  return CASELESS.get(codeSet)?.has(code.toLowerCase()) ?? false;
}

const CASELESS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (['ISO_639-1', 'IANA_character-sets', 'IANA_media-types'] as const).map((name) => [
    name,
    new Set(Array.from(CODE_SETS.get(name)?.keys() ?? [], (code) => code.toLowerCase())),
  ]),
);

/** All codes of a code set with their texts, in the order of the terminology. */
export function codeSetCodes(codeSet: CodeSetName): ReadonlyMap<string, string> {
  return CODE_SETS.get(codeSet) ?? new Map<string, string>();
}
