import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { counted, step, within } from '../../openehr/base/work.js';
import type { Settings } from '../../config/settings.js';
import {
  ehrIdOf,
  InterchangeImport,
  type LineOutcome,
  type PlacedLine,
} from '../../maintenance/interchange/import.js';
import { readLine } from '../../maintenance/interchange/line.js';
import { noteRestore, restoringHere } from '../../maintenance/interchange/restore-here.js';
import { RESTORE } from '../../models/cross-collection/audited-removals.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import { requiredBodyText, writeText } from '../http/exchange.js';
import { errorAnswer } from '../http/failure/error-status.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { compilingFor } from '../http/request/request-body.js';
import { adminOperation } from './record.js';

const REPORT = 'RestoreReport';

/** Lines of one EHR that one transaction writes: between two of them others get their turn. */
const LINES_AT_ONCE = 200;
/** Characters of lines after which others get their turn. */
const TURN_LENGTH = 256 * 1024;

/**
 * Writing records as they were made elsewhere: lines of an export of all versions, as many as a body may have. Repeating them
 * changes nothing, so that whoever lost an answer sends them again. docs/spec/interchange.md#over-http
 */
export function restoreOperation(settings: Pick<Settings, 'aql' | 'fourEyes'>): Operation {
  return adminOperation({
    id: RESTORE,
    discloses: 'whole',
    method: 'PUT',
    path: '/restore/{batch}',
    summary: 'Restore lines of an export of all versions as they were made',
    access: 'restore',
    parameters: ['subject'],
    request: { schema: 'InterchangeLines', types: 'lines' },
    responses: { 200: { description: 'What became of each line', body: { schema: REPORT, types: 'json' } } },
    errors: [400],
    failure: { root: REPORT, fields: {} },
    handle: (ctx) => restore(ctx, settings),
  });
}

async function restore(
  ctx: Context,
  { aql: { leafIndex }, fourEyes }: Pick<Settings, 'aql' | 'fourEyes'>,
): Promise<void> {
  requestBody('interchange', ctx.get('Content-Type'));
  const text = requiredBodyText(ctx);
  const batch = pathParameter(ctx, 'batch');
  const dropsSubjects = queryParameter(ctx, 'subject') === 'drop';
  const lines = await readLines(ctx, text);
  const form = responseBody('json', ctx.get('Accept'));
  const { work } = ctx.state;
  const ehrIds = new Map(
    within(work, () => counted(lines).map(({ position, line }) => [position, ehrIdOf(line)] as const)),
  );
  await noteRestore(batch, [...new Set([...ehrIds.values()].filter((ehrId) => ehrId !== null))]);
  const compile = compilingFor(ctx);
  // What takes two persons is not restored by one.
  const mayAlone = !fourEyes.includes('policy');
  const changesPolicies = mayAlone && (ctx.state.user?.permissions.has('admin') ?? true);
  const target = restoringHere({ batch, leafIndex, dropsSubjects, changesPolicies, work, compile });
  const run = new InterchangeImport(target, { parallel: 1, linesAtOnce: LINES_AT_ONCE }, new Set());
  const outcomes = await run.restore(lines);
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify({ batch, ...reportOf(outcomes, ehrIds) }));
}

/** The lines that bring something. @throws invalid, naming the line that cannot be read; what the budget of the request says */
async function readLines(ctx: Context, text: string): Promise<PlacedLine[]> {
  const { work } = ctx.state;
  const lines: PlacedLine[] = [];
  let length = 0;
  for (const [index, one] of within(work, () => counted(text.split('\n'))).entries()) {
    if (one.trim() === '') continue;
    const line = within(work, () => {
      step();
      return lineAt(one, index + 1);
    });
    if (line.kind !== 'header' && line.kind !== 'end')
      lines.push({ position: index + 1, length: one.length, line });
    length += one.length;
    if (length < TURN_LENGTH) continue;
    length = 0;
    await setImmediate();
  }
  return lines;
}

function lineAt(text: string, position: number): PlacedLine['line'] {
  try {
    return readLine(text);
  } catch (error) {
    if (!(error instanceof CdrError) || error.code !== 'invalid') throw error;
    throw new CdrError('invalid', `line ${position}: ${error.message}`, { ...error.details, cause: error });
  }
}

function reportOf(outcomes: readonly LineOutcome[], ehrIds: ReadonlyMap<number, string | null>): JsonObject {
  const inOrder = [...outcomes].sort((one, other) => one.position - other.position);
  return {
    imported: inOrder.filter(({ result }) => result === 'imported').length,
    unchanged: inOrder.flatMap(({ result, position }) => (result === 'unchanged' ? [position] : [])),
    failed: inOrder.flatMap((one) => {
      if (one.result !== 'failed') return [];
      const ehrId = ehrIds.get(one.position) ?? null;
      const { status } = errorAnswer(one.error);
      return [
        { line: one.position, ...(ehrId !== null && { ehr_id: ehrId }), status, message: one.error.message },
      ];
    }),
  };
}
