import type { JsonObject } from '../../openehr/base/json.js';
import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import { readFlat } from '../../openehr/format/flat/read.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/opt/compile.js';
import { answerError, type ApiClient } from './api-client.js';
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
  const now = new Date(state.startedAt);
  return {
    client,
    importId: state.importId,
    keepsIds,
    batchSize,
    knownEhrs: new Set(),
    refusedEhrs: new Set(state.refusedEhrs),
    systemId: () => systemId,
    setSystemId: (known) => (systemId = known),
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

async function fetchTemplate(client: ApiClient, templateId: string): Promise<CompiledTemplate> {
  const path = `/definition/template/adl1.4/${encodeURIComponent(templateId)}`;
  const { status, text } = await client.send('GET', path, { accept: 'application/xml' });
  if (status === 404)
    throw new CdrError('unprocessable', `Template with template_id '${templateId}' does not exist`);
  if (status !== 200) throw answerError(status, text);
  return compileTemplate(text);
}
