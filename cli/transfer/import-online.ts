import type { JsonObject } from '../../openehr/base/json.js';
import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import { readFlat } from '../../openehr/format/flat/read.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import { answerError, AnswerError, type ApiClient } from './api-client.js';
import type { InProcessServer } from './import-commit.js';
import type { ImportContext, Outcome, ImportState } from './import-progress.js';
import type { ImportRecord } from './import-source.js';
import { importEach, importTogether } from './import-together.js';

/** How records are sent. */
export interface SendingPlan {
  readonly client: ApiClient;
  /** Given where the server is in this process. */
  readonly here?: InProcessServer;
  readonly state: ImportState;
  readonly keepsIds: boolean;
  readonly batchSize: number;
  /** EHRs whose records are sent at once. */
  readonly parallel: number;
}

/** Sends records to a server: EHRs side by side, the records of each in their order. */
export function sendingTo(plan: SendingPlan): (records: readonly ImportRecord[]) => Promise<Outcome[]> {
  const context = contextOf(plan);
  const { here, parallel } = plan;
  return async (records) => {
    const byEhr = groupBy(records, ({ ehrId }) => ehrId);
    const groups = [...byEhr].map(([ehrId, ofEhr]) => ({ ehrId, records: ofEhr }));
    const outcomes =
      here === undefined
        ? await importEach(context, groups, parallel)
        : await importTogether(context, here, groups, parallel);
    plan.state.refusedEhrs = [...context.refusedEhrs];
    return outcomes;
  };
}

function contextOf({ client, here, state, keepsIds, batchSize }: SendingPlan): ImportContext {
  let systemId = here?.systemId ?? '';
  const templates = new Map<string, Promise<CompiledTemplate>>();
  const missing = new Map<string, Promise<AnswerError | null>>();
  const now = new Date(state.startedAt);
  return {
    client,
    importId: state.importId,
    keepsIds,
    batchSize,
    knownEhrs: new Set(),
    refusedEhrs: new Set(state.refusedEhrs),
    isStatusLost: (ehrId) => state.lostStatuses.includes(ehrId),
    systemId: () => systemId,
    setSystemId: (known) => (systemId = known),
    async missingTemplate(templateIds) {
      for (const templateId of templateIds) {
        const known = missing.get(templateId) ?? templateProblem(client, templateId);
        missing.set(templateId, known);
        const problem = await known;
        if (problem !== null) return problem;
      }
      return null;
    },
    noteEmpty: (ehrId) => state.emptyEhrs.push(ehrId),
    async fromFlat(flat: JsonObject, templateId: string) {
      let template = templates.get(templateId);
      if (template === undefined) {
        template = fetchTemplate(client, templateId);
        templates.set(templateId, template);
      }
      return readFlat(flat, await template, { now });
    },
  };
}

/** As the server refuses content of a template that it does not have; null: it has it, or does not say. */
async function templateProblem(client: ApiClient, templateId: string): Promise<AnswerError | null> {
  const { status } = await client.send('GET', pathOf(templateId), { accept: 'application/xml' });
  return status === NOT_FOUND ? new AnswerError(UNPROCESSABLE, missingText(templateId)) : null;
}

const NOT_FOUND = 404;
const UNPROCESSABLE = 422;

function missingText(templateId: string): string {
  return `Template with template_id '${templateId}' does not exist`;
}

function pathOf(templateId: string): string {
  return `/definition/template/adl1.4/${encodeURIComponent(templateId)}`;
}

async function fetchTemplate(client: ApiClient, templateId: string): Promise<CompiledTemplate> {
  const { status, text } = await client.send('GET', pathOf(templateId), { accept: 'application/xml' });
  if (status === NOT_FOUND) throw new CdrError('unprocessable', missingText(templateId));
  if (status !== 200) throw answerError(status, text);
  return compileTemplate(text);
}
