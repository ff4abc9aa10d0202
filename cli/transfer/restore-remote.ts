import { CdrError, type ErrorCode } from '../../openehr/base/errors.js';
import { isJsonObject, jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import {
  failed,
  type LineOutcome,
  type PlacedLine,
  type RestoreTarget,
} from '../../maintenance/interchange/import.js';
import { objectsAt } from '../../openehr/rm/access.js';
import { answerError, AnswerError, type ApiClient } from './api-client.js';

/** A line with its text, as it is sent. */
export interface TextLine extends PlacedLine {
  readonly text: string;
}

/** Statuses of lines that were refused, as errors. */
const CODES: Readonly<Record<number, ErrorCode>> = { 400: 'invalid', 409: 'conflict', 422: 'unprocessable' };
const TOO_LARGE = 413;

/** Lets a server write: what its answers say of a line is an outcome, every other failure ends the import. docs/spec/interchange.md#over-http */
export function restoringThere(
  client: ApiClient,
  { batch, dropsSubjects }: { readonly batch: string; readonly dropsSubjects: boolean },
): RestoreTarget<TextLine> {
  const path = `/rest/admin/restore/${batch}${dropsSubjects ? '?subject=drop' : ''}`;
  const sent = (lines: readonly TextLine[]): Promise<LineOutcome[]> => restored(client, path, lines);
  return {
    definitions: (lines) => inRequests(lines, sent),
    parts: (parts) => sent(parts.flatMap(({ lines }) => lines)),
  };
}

/** Characters of definitions in one request: a template may have a megabyte. */
const DEFINITIONS_LENGTH = 4 * 1024 * 1024;

async function inRequests(
  lines: readonly TextLine[],
  sent: (lines: readonly TextLine[]) => Promise<LineOutcome[]>,
): Promise<LineOutcome[]> {
  const outcomes: LineOutcome[] = [];
  let [next, length]: [TextLine[], number] = [[], 0];
  for (const line of lines) {
    if (next.length > 0 && length + line.length > DEFINITIONS_LENGTH) {
      outcomes.push(...(await sent(next)));
      [next, length] = [[], 0];
    }
    next.push(line);
    length += line.length;
  }
  return next.length === 0 ? outcomes : [...outcomes, ...(await sent(next))];
}

async function restored(client: ApiClient, path: string, lines: readonly TextLine[]): Promise<LineOutcome[]> {
  const { status, text } = await client.send('PUT', path, {
    isWhole: true,
    type: 'application/x-ndjson',
    accept: 'application/json',
    body: lines.map((line) => `${line.text}\n`).join(''),
  });
  if (status === TOO_LARGE)
    throw new AnswerError(
      status,
      `${answerError(status, text).message}; line ${lines[0]?.position ?? 1} and what goes with it need a larger MAX_BODY_BYTES, or --local`,
    );
  if (status !== 200) throw answerError(status, text);
  return outcomesOf(lines, jsonObjectOf(text));
}

function outcomesOf(lines: readonly TextLine[], report: JsonObject): LineOutcome[] {
  const unchanged = new Set(Array.isArray(report.unchanged) ? report.unchanged : []);
  const refusals = new Map(objectsAt(report, 'failed').map((one) => [one.line, one]));
  return lines.map((line, index) => {
    const refusal = refusals.get(index + 1);
    if (isJsonObject(refusal)) return failed(line, errorOf(refusal));
    return { position: line.position, result: unchanged.has(index + 1) ? 'unchanged' : 'imported' };
  });
}

function errorOf({ status, message }: JsonObject): CdrError {
  const code = typeof status === 'number' ? CODES[status] : undefined;
  return new CdrError(code ?? 'invalid', typeof message === 'string' ? message : 'the server refused it');
}
