import { isJsonObject, jsonOf } from '../../openehr/base/json.js';
import { readRm } from '../../openehr/rm/read.js';
import { earlierInUse, revisionInUse } from '../../models/definition/revision-in-use.js';
import { templateInUse, type CompileStored, type TemplateInUse } from '../../models/definition/template.js';
import { earlierRevisions } from '../../models/definition/template-revision.js';
import type { VersionDoc } from '../../models/version.js';
import { validateContent } from '../content/content.js';

/** A VERSION of a COMPOSITION, as far as its template is asked for. */
type Judged = Pick<VersionDoc, 'template_id' | 'template_digest' | 'data'>;

/**
 * The revision of its template by which a VERSION was judged; null when the template is not there. A VERSION that notes none was
 * stored while there were no revisions: it is of the oldest one by which it is valid, else of the newest.
 * @throws as `compile`
 */
export async function judgedBy(version: Judged, compile?: CompileStored): Promise<TemplateInUse | null> {
  const templateId = version.template_id ?? '';
  const newest = await templateInUse(templateId, compile);
  if (newest === null || newest.formerTexts === undefined) return newest;
  const { template_digest: digest } = version;
  if (digest !== undefined) return (await revisionInUse(templateId, digest, compile)) ?? newest;
  return (await byContent(newest, compile))(version);
}

/** Finds of which revision VERSIONs of a template are that note none. @throws as `compile` */
type ByContent<T> = (version: Pick<Judged, 'data'>) => Promise<T>;

/** As `judgedBy`, for VERSIONs that note no revision, with one look at what revisions there are. */
export async function judgedByContent(templateId: string): Promise<ByContent<TemplateInUse | null>> {
  const newest = await templateInUse(templateId);
  return newest?.formerTexts === undefined ? () => Promise.resolve(newest) : byContent(newest);
}

async function byContent(newest: TemplateInUse, compile?: CompileStored): Promise<ByContent<TemplateInUse>> {
  const docs = await earlierRevisions(newest.storedId);
  return async (version) => {
    for (const doc of docs) {
      const earlier = await earlierInUse(newest, doc, compile);
      if (isValidBy(version, earlier)) return earlier;
    }
    return newest;
  };
}

const RULES = {
  checkRmRules: false,
  checkExtraNodes: true,
  checkContainerCardinality: true,
  lenient: false,
  acceptsFindings: false,
} as const;

function isValidBy({ data }: Pick<Judged, 'data'>, { compiled }: TemplateInUse): boolean {
  const content = jsonOf(data ?? '{}');
  if (!isJsonObject(content)) return false;
  const { object } = readRm(content, 'COMPOSITION');
  if (object === null) return false;
  return validateContent(object, compiled, RULES).violations.length === 0;
}
