import { CdrError } from '../../../openehr/base/errors.js';
import { MAX_PIPELINE_DEPTH, MAX_PIPELINE_STAGES, MAX_SUB_PIPELINES } from '../../syntax/limits.js';
import type { MongoValue, Stage } from '../../index/stage.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * Refuses a pipeline that MongoDB would refuse: the limits of a query keep its text small, but a few things
 * together can still become more stages, joins inside joins or a deeper document than the database takes.
 * @throws invalid
 */
export function checkPipeline(stages: readonly Stage[]): void {
  checkStages(stages, 0);
  const depth = depthOf(stages);
  if (depth > MAX_PIPELINE_DEPTH)
    throw tooLargePlan(`nested objects ${depth} levels deep`, MAX_PIPELINE_DEPTH, 'nest less');
}

/**
 * Refuses, while a plan is made, what cannot become a pipeline any more. Of the steps only filters that follow each other
 * become one stage, and those are fewer than stages are possible.
 * @throws invalid
 */
export function checkSteps({ length }: readonly unknown[]): void {
  if (length > 2 * MAX_PIPELINE_STAGES) throw tooManyStages(`more than ${MAX_PIPELINE_STAGES}`);
}

function tooManyStages(found: string): CdrError {
  return tooLargePlan(`${found} stages`, MAX_PIPELINE_STAGES, 'ask for fewer different lists');
}

function checkStages(stages: readonly Stage[], level: number): void {
  if (stages.length > MAX_PIPELINE_STAGES) throw tooManyStages(String(stages.length));
  if (level > MAX_SUB_PIPELINES)
    throw tooLargePlan(`${level} joins inside joins`, MAX_SUB_PIPELINES, 'nest less in FROM');
  for (const { $lookup } of counted(stages)) {
    const inner = $lookup === undefined ? undefined : (($lookup as Stage).pipeline as Stage[] | undefined);
    if (inner !== undefined) checkStages(inner, level + 1);
  }
}

function tooLargePlan(found: string, most: number, way: string): CdrError {
  return new CdrError(
    'invalid',
    `the query is too large for the database: it needs ${found}, at most ${most} are possible; ${way}`,
  );
}

function depthOf(part: MongoValue): number {
  if (typeof part !== 'object' || part === null || part instanceof Date) return 0;
  let deepest = 0;
  for (const member of counted(Object.values(part))) deepest = Math.max(deepest, depthOf(member ?? null));
  return deepest + 1;
}
