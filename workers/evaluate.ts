import type { MessagePort } from 'node:worker_threads';
import type { ReferenceData, ReferenceOptions, ReferenceVersion } from '../aql/evaluate/data.js';
import { evaluateQuery } from '../aql/evaluate/evaluate.js';
import { resolveScope } from '../aql/semantics/scope/scope.js';
import type { BoundQuery } from '../aql/syntax/ast.js';
import type { PathAlias } from '../openehr/template/upgrade/path-alias.js';
import type { JsonObject } from '../openehr/base/json.js';
import { resultBytes, within, Work, type Counted, type WorkBudget } from '../openehr/base/work.js';
import { inflated } from '../models/inflated.js';
import { answerOf, type Answer } from './messages.js';

/** A VERSION whose content is still as it is stored: text, or compressed. */
interface UnreadVersion extends Omit<ReferenceVersion, 'data'> {
  readonly content: string | Uint8Array | null;
}

/** What a query is evaluated over. */
export interface UnreadData extends Pick<ReferenceData, 'ehrs'> {
  readonly versions: readonly UnreadVersion[];
}

/** A query to be evaluated; the port brings VERSIONs, null after the last of them, and takes the rows. */
export interface EvaluationRequest extends Pick<UnreadData, 'ehrs'> {
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
  const unread = await allVersions(port);
  const answer = answerOf(() => {
    within(work, () => {
      sendRows(port, rowsOf(request, unread));
    });
    return work.used;
  });
  port.postMessage(null);
  port.close();
  return answer;
}

function allVersions(port: MessagePort): Promise<readonly UnreadVersion[]> {
  const versions: UnreadVersion[] = [];
  return new Promise((resolve) => {
    port.on('message', (batch: readonly UnreadVersion[] | null) => {
      if (batch === null) resolve(versions);
      else for (const version of batch) versions.push(version);
    });
  });
}

function rowsOf(
  { query, ehrId, aliases, ehrs, options }: EvaluationRequest,
  unread: readonly UnreadVersion[],
): ReturnType<typeof evaluateQuery>['rows'] {
  const versions = unread.map(({ content, ...version }) => ({ ...version, data: dataOf(content) }));
  const scope = resolveScope(query, { ehrId, aliases });
  return evaluateQuery(scope, { ehrs, versions }, { ...options, ehrId }).rows;
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
