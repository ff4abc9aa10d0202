import { inTransaction } from '../database/transaction.js';
import type { TemplateDoc, UploadedTemplate } from '../models/template.js';
import { insertTemplate, keepCompiled } from '../models/template.js';
import { rememberResult } from './idempotency.js';

/** Stores a new operational template. ITS-REST: template_adl1.4_upload. @throws conflict when its id exists */
export async function createTemplate(template: UploadedTemplate): Promise<TemplateDoc> {
  const createdTimestamp = new Date();
  const doc = await inTransaction(async () => {
    const inserted = await insertTemplate(template, createdTimestamp);
    await rememberResult({ kind: 'TEMPLATE', uids: { template_id: inserted._id } });
    return inserted;
  });
  keepCompiled(doc, template.compiled);
  return doc;
}
