import type { JsonObject } from '../../openehr/base/json.js';
import { objectAt, objectsAt, textAt } from '../../openehr/rm/access.js';
import type { AcceptedFinding } from '../../openehr/rm/lenient.js';
import { contentOf, type OldVersion } from './old-version.js';
import type { OldEhr } from './read-ehr.js';

/** What a migration says of a COMPOSITION beside it. */
export type Judge = (version: OldVersion) => readonly AcceptedFinding[];

/** What decides what is said of COMPOSITIONs. */
interface Judging {
  readonly judge: Judge;
  /** Which revisions of templates come with them. */
  readonly definitions: { knows(templateId: string, digest: string): boolean };
}

/** The lines of an EHR but its item tags, as an interchange file has them: docs/spec/interchange.md#lines */
export function oldLines(old: OldEhr, { judge, definitions }: Judging): string[] {
  const { ehrId } = old;
  const lines = [JSON.stringify({ kind: 'ehr', ehr: ehrOf(old) })];
  const known = new Map(old.versions.map(({ uid, type }) => [uid, type]));
  const written = new Set<string>();
  const templates = new Map<string, string>();
  for (const one of old.versions) {
    const uid = textAt(one.version, 'contribution', 'id', 'value') ?? '';
    const contribution = old.contributions.get(uid);
    if (contribution !== undefined && !written.has(uid)) {
      written.add(uid);
      lines.push(
        JSON.stringify({
          kind: 'contribution',
          ehr_id: ehrId,
          contribution: contributionOf(contribution, known),
        }),
      );
    }
    const container = one.uid.split('::')[0] ?? '';
    const own = textAt(contentOf(one.version), 'archetype_details', 'template_id', 'value');
    const templateId = one.type === 'COMPOSITION' ? (own ?? templates.get(container)) : undefined;
    if (templateId !== undefined) templates.set(container, templateId);
    const findings = judge(one);
    lines.push(
      JSON.stringify({
        ...{ kind: 'version', ehr_id: ehrId, type: one.type },
        ...(templateId !== undefined && templateOf(templateId, one, definitions)),
        ...(findings.length > 0 && { validation_findings: findings }),
        version: one.version,
      }),
    );
  }
  return lines;
}

function templateOf(
  templateId: string,
  { revision }: OldVersion,
  definitions: Judging['definitions'],
): { readonly template_id: string; readonly template_digest?: string } {
  if (revision === null || !definitions.knows(templateId, revision)) return { template_id: templateId };
  return { template_id: templateId, template_digest: revision };
}

function ehrOf({ ehrId, ehr }: OldEhr): JsonObject {
  return {
    _type: 'EHR',
    system_id: objectAt(ehr, 'system_id') ?? {},
    ehr_id: { _type: 'HIER_OBJECT_ID', value: ehrId },
    time_created: objectAt(ehr, 'time_created') ?? {},
  };
}

/** References to what was read, each with the class that it is of: what is not here cannot be pointed to. */
function contributionOf(
  contribution: JsonObject,
  known: ReadonlyMap<string, OldVersion['type']>,
): JsonObject {
  const versions = objectsAt(contribution, 'versions').flatMap((reference) => {
    const type = known.get(textAt(reference, 'id', 'value') ?? '');
    return type === undefined ? [] : [{ ...reference, type }];
  });
  return { ...contribution, versions };
}
