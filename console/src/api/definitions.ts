import type {
  Cdr,
  ComparedWith,
  TemplateComparison,
  TemplateRevision,
  TemplateUpgrade,
  UpgradePlan,
} from '@everchart/client';

/** Administration of templates and stored queries. */
export interface DefinitionsApi {
  /** All revisions, newest first. */
  templateRevisions: (templateId: string) => Promise<TemplateRevision[]>;
  removeRevision: (templateId: string, revision: string) => Promise<void>;
  /** Judges stored documents by another text or revision, some at random or all. Gives the job. */
  compareData: (templateId: string, after: ComparedWith, data: 'sample' | 'all') => Promise<string>;
  comparison: (templateId: string, job: string) => Promise<TemplateComparison>;
  cancelComparison: (templateId: string, job: string) => Promise<TemplateComparison>;
  planUpgrade: (templateId: string, rules: readonly object[]) => Promise<UpgradePlan>;
  beginUpgrade: (templateId: string, rules: readonly object[], hash: string) => Promise<string>;
  /** Newest first. */
  upgrades: (templateId: string) => Promise<TemplateUpgrade[]>;
  steerUpgrade: (
    templateId: string,
    job: string,
    word: 'pause' | 'resume' | 'undo',
  ) => Promise<TemplateUpgrade>;
  /** In place of one that no document uses. */
  replaceTemplate: (templateId: string, opt: string) => Promise<void>;
  /** One that no document uses. */
  deleteTemplate: (templateId: string) => Promise<void>;
  /** One version of it. */
  deleteStoredQuery: (name: string, version: string) => Promise<void>;
}

/** The part of the API that is about templates and stored queries. */
export function definitionsApi(cdr: Cdr): DefinitionsApi {
  const { comparisons, upgrades } = cdr.templates;
  return {
    templateRevisions: (templateId) => cdr.templates.revisions(templateId),
    removeRevision: (templateId, revision) => cdr.templates.removeRevision(templateId, revision),
    compareData: async (templateId, after, data) =>
      (await cdr.templates.compareData(templateId, after, { data })).data.job,
    comparison: (templateId, job) => comparisons.get(templateId, job),
    cancelComparison: (templateId, job) => comparisons.steer(templateId, job, 'cancel'),
    planUpgrade: (templateId, rules) => upgrades.plan(templateId, { rules }),
    beginUpgrade: (templateId, rules, hash) => upgrades.begin(templateId, { rules, hash }),
    upgrades: (templateId) => upgrades.list(templateId),
    steerUpgrade: (templateId, job, word) => upgrades.steer(templateId, job, word),
    replaceTemplate: async (templateId, opt) => {
      const path = `/rest/admin/template/${encodeURIComponent(templateId)}`;
      await cdr.request('PUT', path, { body: opt, type: 'application/xml', accept: 'application/xml' });
    },
    deleteStoredQuery: (name, version) => cdr.admin.deleteStoredQuery(name, version),
    deleteTemplate: async (templateId) => {
      await cdr.request('DELETE', `/rest/admin/template/${encodeURIComponent(templateId)}`);
    },
  };
}
