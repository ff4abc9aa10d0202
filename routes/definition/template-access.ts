import { templateNotFound } from '../../change/commit/refusal.js';
import { templateInUse } from '../../models/template.js';
import type { CompiledTemplate } from '../../openehr/template/opt/compile.js';
import type { ResourceHeaders } from '../http/exchange.js';

/** Path of the operational templates (ADL 1.4) below the standard API. */
export const ADL14_TEMPLATES = '/definition/template/adl1.4';

/** Headers of a template, all of them. */
export type TemplateHeaders = Required<Omit<ResourceHeaders, 'contentVersion'>>;

/** Headers of a template. Its id may hold any character; what a header cannot carry is percent-encoded. */
export function templateHeaders(templateId: string, createdTimestamp: Date): TemplateHeaders {
  return {
    etag: templateId.replaceAll(/[^\x20\x21\x23-\x7e]/gu, (character) => encodeURIComponent(character)),
    path: `${ADL14_TEMPLATES}/${encodeURIComponent(templateId)}`,
    lastModified: createdTimestamp,
  };
}

/** A compiled template with its headers. @throws not-found */
export async function requireCompiled(
  templateId: string,
): Promise<{ readonly compiled: CompiledTemplate; readonly headers: TemplateHeaders }> {
  const found = await templateInUse(templateId);
  if (found === null) throw templateNotFound(templateId, 'not-found');
  return { compiled: found.compiled, headers: templateHeaders(templateId, found.createdTimestamp) };
}
