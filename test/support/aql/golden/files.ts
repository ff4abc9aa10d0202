import { CdrError } from '../../../../openehr/base/errors.js';
import type { QueryPlan } from '../../../../aql/plan/query-plan.js';
import { templateNames } from '../../fixture.js';
import { webTemplateText } from '../../openehr/web-template-text.js';
import type { AqlCase } from '../cases/aql-case.js';
import { aqlCases } from '../cases/cases.js';
import { plansOfCase } from './case-plans.js';
import { planText } from './plan-text.js';
import { print } from './print.js';

/** Where the golden files are, from the root of the repository. */
export const GOLDEN = 'test/golden';

/** The golden files by their path below `GOLDEN`: every AQL case with what it is compiled to, every public template with its nodes. */
export function goldenFiles(): ReadonlyMap<string, string> {
  const entries = new Map<string, string[]>();
  for (const aqlCase of aqlCases) {
    const plans = plansOfCase(aqlCase);
    const add = (folder: string, text: string): void => {
      const file = `${folder}/${fileOf(aqlCase)}`;
      entries.set(file, [...(entries.get(file) ?? []), `${headOf(aqlCase)}\n${text}\n`]);
    };
    const isRefused = plans instanceof CdrError;
    add('pipelines', isRefused ? `refused: ${plans.code}` : pipelineText(plans.query));
    if (!isRefused) add('plans', `${planText(plans.logical)}\npasses ${plans.query.applied.join(', ')}`);
  }
  const webTemplates = templateNames().map(
    (name) => [`web-templates/${name}.txt`, webTemplateText(name)] as const,
  );
  return new Map([
    ...[...entries].map(([file, texts]) => [file, texts.join('\n')] as const),
    ...webTemplates,
  ]);
}

/** Ten test groups a file; the rows of the feature table in one. */
function fileOf({ group }: AqlCase): string {
  if (typeof group === 'string') return 'features.txt';
  const first = Math.floor(group / 10) * 10;
  return `groups-${String(first).padStart(2, '0')}.txt`;
}

function headOf({ group, title, aql, parameters, textParameters, options }: AqlCase): string {
  const about = { ...(parameters ?? textParameters), ...options };
  const lines = [`## ${group}: ${title}`];
  if (title !== aql) lines.push(aql);
  if (Object.keys(about).length > 0) lines.push(`with ${print(about)}`);
  return lines.join('\n');
}

function pipelineText({ collection, pipeline, emptyRow, probe, inProcess }: QueryPlan): string {
  const lines = [`from ${collection}`, ...pipeline.map((stage) => print(stage))];
  if (probe !== null) {
    const { pipeline: stages, ...numbers } = probe;
    lines.push(`probe ${print(numbers)}`, ...stages.map((stage) => print(stage)));
  }
  if (inProcess !== null) lines.push(`then ${print(inProcess)}`);
  if (emptyRow !== null) lines.push(`without rows ${print(emptyRow)}`);
  return lines.join('\n');
}
