import type { MessagePort } from 'node:worker_threads';
import type { ReferenceEhr, ReferenceOptions, ReferenceVersion } from '../aql/evaluate/data.js';
import { evaluateQuery } from '../aql/evaluate/evaluate.js';
import { resolveScope } from '../aql/semantics/scope/scope.js';
import type { BoundQuery } from '../aql/syntax/ast.js';
import type { PathAlias } from '../openehr/template/upgrade/path-alias.js';
import type { JsonObject } from '../openehr/base/json.js';
import { resultBytes, within, Work, type Counted, type WorkBudget } from '../openehr/base/work.js';
import { inflated } from '../models/inflated.js';
import { readContents, type UnreadVersion } from '../models/read-contents.js';
import { answerOf, type Answer } from './messages.js';

/** A query to be evaluated; the port brings chunks for `readContents`, null after the last of them, and takes the rows. */
export interface EvaluationRequest {
  readonly query: BoundQuery;
  readonly ehrId: string | null;
  /** Paths that templates have moved. */
  readonly aliases: readonly PathAlias[];
  readonly options: ReferenceOptions;
  readonly budget: WorkBudget;
  readonly port: MessagePort;
}

/** Rows as JSON texts; null after the last of them. */
export type RowsMessage = readonly string[] | null;

/** Characters of rows that go back at a time. */
const CHARACTERS_AT_ONCE = 256 * 1024;

/** Evaluates a query over the VERSIONs that come by the port; gives what it used of the budget. */
export async function evaluateRequest(
  request: EvaluationRequest,
): Promise<Answer<Readonly<Record<Counted, number>>>> {
  const { port, budget } = request;
  const work = new Work(budget, () => performance.now());
  const chunks = await allChunks(port);
  const answer = answerOf(() => {
    within(work, () => {
      sendRows(port, rowsOf(request, readContents(chunks)));
    });
    return work.used;
  });
  port.postMessage(null);
  port.close();
  return answer;
}

function allChunks(port: MessagePort): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  return new Promise((resolve) => {
    port.on('message', (chunk: Uint8Array | null) => {
      if (chunk === null) resolve(chunks);
      else chunks.push(chunk);
    });
  });
}

function rowsOf(
  { query, ehrId, aliases, options }: EvaluationRequest,
  contents: ReturnType<typeof readContents>,
): ReturnType<typeof evaluateQuery>['rows'] {
  const data = { ehrs: contents.ehrs.map(ehrOf), versions: contents.versions.map(versionOf) };
  const scope = resolveScope(query, { ehrId, aliases });
  return evaluateQuery(scope, data, { ...options, ehrId }).rows;
}

function ehrOf(ehr: ReturnType<typeof readContents>['ehrs'][number]): ReferenceEhr {
  return {
    ehrId: ehr._id,
    systemId: ehr.system_id,
    timeCreated: ehr.time_created,
    isQueryable: ehr.is_queryable,
    ...(ehr.subject !== undefined && { namespace: ehr.subject.namespace }),
  };
}

function versionOf(version: UnreadVersion): ReferenceVersion {
  return {
    uid: version._id,
    ehrId: version.ehr_id,
    type: version.type,
    timeCommitted: version.time_committed,
    commitAudit: version.commit_audit,
    lifecycleState: version.lifecycle_state,
    contributionUid: version.contribution_uid,
    precedingVersionUid: version.preceding_version_uid ?? null,
    ...(version.signature !== undefined && { signature: version.signature }),
    ...(version.item !== undefined && { item: { ...version.item } }),
    data: dataOf(version.content),
  };
}

function dataOf(content: UnreadVersion['content']): JsonObject | null {
  if (content === null) return null;
  const text = typeof content === 'string' ? content : inflated(content);
  resultBytes(text.length);
  return JSON.parse(text) as JsonObject;
}

function sendRows(port: MessagePort, rows: readonly (readonly unknown[])[]): void {
  let texts: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    resultBytes(text.length);
    texts.push(text);
    length += text.length;
    if (length < CHARACTERS_AT_ONCE) continue;
    port.postMessage(texts satisfies RowsMessage);
    texts = [];
    length = 0;
  }
  if (texts.length > 0) port.postMessage(texts satisfies RowsMessage);
}
