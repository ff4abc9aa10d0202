import { oldLines, type Judge } from './old-lines.js';
import type { OldDefinitions } from './read-definitions.js';
import type { OldServer } from './old-server.js';
import { readOldEhr, type OldEhr } from './read-ehr.js';

/** What a migration would meet, as far as definitions and a sample of EHRs tell. */
interface Rehearsal {
  readonly templates: number;
  readonly queries: number;
  /** Templates that cannot be used here, each with the reason. */
  readonly unusable: readonly string[];
  readonly ehrs: number;
  /** EHRs that were read. */
  readonly read: number;
  readonly versions: number;
  /** Versions whose content breaks rules, each with the first of them. */
  readonly broken: readonly string[];
  /** What was named and not shown. */
  readonly missing: readonly string[];
  /** Seconds that reading all EHRs would take, so many at once. */
  readonly seconds: number;
}

/** EHRs that are read, evenly among all. */
const SAMPLE = 20;

/** Reads definitions and a sample, and writes nothing. @throws AnswerError when the server cannot be asked */
export async function rehearsed(
  { server, definitions, judge }: RehearsalPlan,
  ehrIds: readonly string[],
  parallel: number,
): Promise<Rehearsal> {
  let templates = 0;
  const unusable: string[] = [];
  for await (const { templateId, problem } of definitions.templates()) {
    templates += 1;
    if (problem !== null) unusable.push(`template ${templateId}: ${problem}`);
  }
  const queries = (await definitions.queries()).length;
  const sample = ehrIds.filter((_, index) => index % Math.ceil(ehrIds.length / SAMPLE) === 0);
  const start = performance.now();
  const read: OldEhr[] = [];
  for (const ehrId of sample) {
    const old = await readOldEhr(server, ehrId);
    if (old === null) continue;
    read.push(old);
    oldLines(old, { judge, definitions });
  }
  const each = (performance.now() - start) / 1_000 / Math.max(1, read.length);
  return {
    ...{ templates, queries, unusable, ehrs: ehrIds.length, read: read.length },
    versions: read.reduce((sum, { versions }) => sum + versions.length, 0),
    broken: read.flatMap(({ versions }) =>
      versions.flatMap((version) => {
        const [first] = judge(version);
        return first === undefined ? [] : [`VERSION ${version.uid}: ${first.path}: ${first.message}`];
      }),
    ),
    missing: read.flatMap(({ missing }) => missing),
    seconds: (each * ehrIds.length) / parallel,
  };
}

interface RehearsalPlan {
  readonly server: OldServer;
  readonly definitions: OldDefinitions;
  readonly judge: Judge;
}

/** Lines of one kind that are shown. */
const SHOWN = 10;

/** What a rehearsal found, as lines for a terminal. */
export function rehearsalText(found: Rehearsal): string {
  const { ehrs, read, versions, broken } = found;
  return [
    `${ehrs} EHRs, ${found.templates} templates, ${found.queries} stored queries`,
    ...found.unusable.map((line) => `refused: ${line}`),
    `${read} EHRs with ${versions} versions were read; ${broken.length} break rules, and move with --lenient only`,
    ...shown(broken),
    ...(found.missing.length === 0 ? [] : [`${found.missing.length} were named and not shown`]),
    ...shown(found.missing),
    `to read all takes about ${durationText(found.seconds)}`,
    '',
  ].join('\n');
}

function shown(lines: readonly string[]): string[] {
  const more = lines.length > SHOWN ? [`  and ${lines.length - SHOWN} more`] : [];
  return [...lines.slice(0, SHOWN).map((line) => `  ${line}`), ...more];
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} seconds`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3_600).toFixed(1)} hours`;
}
