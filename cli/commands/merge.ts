import { Command, Option } from 'commander';
import type {
  MergeCandidate,
  MergeDetails,
  MergeRequest,
  UnmergeRequest,
} from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { repairCommand } from './merge-repair.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';

type Options = TargetOptions & JsonOption;

interface ReasonOptions extends Options {
  readonly reason?: string;
}

interface MergeOptions extends ReasonOptions {
  readonly irreversible?: true;
  readonly dryRun?: true;
  readonly file?: string;
}

interface UndoOptions extends ReasonOptions {
  readonly dryRun?: true;
  readonly onConflict?: 'keep_in_target' | 'take_back';
}

/** `everchart merge`: EHRs of one person. All but `repair` over HTTP, with the permission admin. */
export function mergeCommand(): Command {
  const remote = [
    new Command('candidates')
      .description('Prints EHRs that may be of one person, the likeliest first')
      .option('--ehr <ehr_id>', 'those of this EHR')
      .action(candidates),
    pair('run', 'Dissolves the source in the target')
      .option('--irreversible', 'the merge cannot be taken back')
      .option('--dry-run', 'say what it would do, and do nothing')
      .option('--reason <text>', 'why, for the record')
      .action(run),
    pair('undo', 'Takes a merge back')
      .option('--dry-run', 'say what it would do, and do nothing')
      .option('--reason <text>', 'why, for the record')
      .addOption(
        new Option('--on-conflict <choice>', 'what becomes of what was changed after the merge').choices([
          'keep_in_target',
          'take_back',
        ]),
      )
      .action(undo),
    new Command('list')
      .description('Prints the merges, oldest first')
      .option('--pending', 'only those that wait for approval')
      .action(list),
    pair('show', 'Prints a merge').action(show),
    new Command('confirm')
      .description('Carries out a merge that another administrator asked for')
      .argument('<merge_id>')
      .action(confirm),
    new Command('withdraw')
      .description('Ends a merge that waits for approval')
      .argument('<merge_id>')
      .option('--reason <text>', 'why, for the record')
      .action(withdraw),
  ];
  const command = new Command('merge');
  for (const sub of remote) command.addCommand(withTargetOptions(sub.option(...JSON_FLAG)));
  return command.addCommand(repairCommand());
}

function pair(name: string, description: string): Command {
  return new Command(name).description(description).argument('<source_ehr>').argument('<target_ehr>');
}

async function candidates(options: Options & { readonly ehr?: string }): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const found: MergeCandidate[] = [];
    const { merges } = cdr.admin;
    if (options.ehr !== undefined)
      found.push(...(await merges.candidates({ ehrId: options.ehr })).candidates);
    else
      for (let after: string | undefined = ''; after !== undefined;) {
        const page = await merges.candidates(after === '' ? {} : { after });
        found.push(...page.candidates);
        after = page.next;
      }
    found.sort((a, b) => b.score - a.score);
    const rows = found.map(({ reasons, ...one }) => ({
      ...one,
      reasons: reasons.map(({ code, value }) => `${code} ${value}`).join(', '),
    }));
    print(options, found, () => tableOf(['ehr_id', 'other_ehr_id', 'score', 'reasons'], rows));
  });
}

async function run(source: string, target: string, options: MergeOptions): Promise<void> {
  const request: MergeRequest = {
    source_ehr: source,
    target_ehr: target,
    reversible: options.irreversible !== true,
    ...(options.reason !== undefined && { reason: options.reason }),
  };
  await withTarget(options, 0, async ({ cdr: { admin } }) => {
    const { merges } = admin;
    printMerge(options, await (options.dryRun === true ? merges.preview(request) : merges.merge(request)));
  });
}

async function undo(source: string, target: string, options: UndoOptions): Promise<void> {
  const request: UnmergeRequest = {
    source_ehr: source,
    target_ehr: target,
    ...(options.dryRun === true && { dry_run: true }),
    ...(options.onConflict !== undefined && { on_conflict: options.onConflict }),
    ...(options.reason !== undefined && { reason: options.reason }),
  };
  await withTarget(options, 0, async ({ cdr }) => {
    printMerge(options, await cdr.admin.merges.undo(request));
  });
}

async function list(options: Options & { readonly pending?: true }): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const merges = await cdr.admin.merges.list(options.pending === true ? { pending: true } : {});
    print(options, merges, () =>
      tableOf(
        ['merge_id', 'source_ehr', 'target_ehr', 'merge_date', 'state', 'summary'],
        merges.map((merge) => ({ ...merge, summary: merge.outcome.summary })),
      ),
    );
  });
}

async function show(source: string, target: string, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    printMerge(options, await cdr.admin.merges.details(source, target));
  });
}

async function confirm(mergeId: string, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    printMerge(options, await cdr.admin.merges.confirm(mergeId));
  });
}

async function withdraw(mergeId: string, options: ReasonOptions): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    printMerge(options, await cdr.admin.merges.withdraw(mergeId, options.reason));
  });
}

function printMerge(options: JsonOption, merge: MergeDetails): void {
  const state = merge.state === undefined ? '' : ` (${merge.state})`;
  const id = merge.merge_id === undefined ? '' : `merge ${merge.merge_id}${state}\n`;
  print(options, merge, () => `${id}${merge.outcome.summary}`);
}
