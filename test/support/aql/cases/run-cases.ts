import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../../openehr/base/json.js';
import { canonicalText } from '../../../../aql/evaluate/canonical-text.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import type { AqlCase } from './aql-case.js';

/** What a runner answers. */
interface CaseAnswer {
  readonly columns: readonly { readonly name: string; readonly path: string | null }[];
  readonly rows: readonly (readonly JsonValue[])[];
}

/** Runs one case on the Hilltop data: in the evaluator, as a pipeline, over HTTP. */
export type CaseRunner = (aqlCase: AqlCase) => Promise<CaseAnswer> | CaseAnswer;

/** One jest test per case, named after its test group or its row of the feature table. */
export function describeCases(cases: readonly AqlCase[], run: CaseRunner): void {
  const groups = new Set(cases.map(({ group }) => group));
  for (const group of groups)
    describe(typeof group === 'number' ? `AQL test group ${group}` : `AQL feature: ${group}`, () => {
      for (const aqlCase of cases.filter((each) => each.group === group))
        it(aqlCase.title, async () => {
          await checkCase(aqlCase, run);
        });
    });
}

async function checkCase(aqlCase: AqlCase, run: CaseRunner): Promise<void> {
  const wanted = aqlCase.expect;
  if ('error' in wanted) {
    const failure = await failureOf(aqlCase, run);
    expect(failure).toMatchObject({ code: wanted.error });
    if (wanted.message !== undefined) expect(failure.message).toContain(wanted.message);
    return;
  }
  const answer = await run(aqlCase);
  if ('count' in wanted) expect(answer.rows).toHaveLength(wanted.count);
  else if ('columns' in wanted)
    expect(answer.columns.map(({ name, path }) => ({ name, path }))).toEqual(wanted.columns);
  else if (wanted.ordered === true) expect(answer.rows).toEqual(wanted.rows);
  else expect(sorted(answer.rows)).toEqual(sorted(wanted.rows));
}

async function failureOf(aqlCase: AqlCase, run: CaseRunner): Promise<CdrError> {
  try {
    await run(aqlCase);
  } catch (error) {
    if (error instanceof CdrError) return error;
    throw error;
  }
  throw new Error('the query was not refused');
}

function sorted(rows: readonly (readonly JsonValue[])[]): readonly (readonly JsonValue[])[] {
  return [...rows].sort((a, b) => {
    const [x, y] = [canonicalText([...a]), canonicalText([...b])];
    return x < y ? -1 : x > y ? 1 : 0;
  });
}
