import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { configFromEnvironment, loadConfig } from '../../src/settings/config.js';
import { addedAnswers, NO_ANSWER } from '../migrate/answer-digest.js';
import { oldEhrIds } from '../migrate/ehr-ids.js';
import { judging } from '../migrate/judge.js';
import { migrate } from '../migrate/migrate.js';
import type { Judge } from '../migrate/old-lines.js';
import { OldServer } from '../migrate/old-server.js';
import { openPass, targetName } from '../migrate/pass.js';
import { sealHeadOf, writeProof } from '../migrate/proof.js';
import { OldDefinitions } from '../migrate/read-definitions.js';
import { rehearsalText, rehearsed } from '../migrate/rehearsal.js';
import type { MigrationPass, MigrationState } from '../migrate/state.js';
import { peerAddress } from '../transfer/address.js';
import { apiClient } from '../transfer/api-client.js';
import { ImportFiles, type FailedRecord } from '../transfer/import-progress.js';
import { writeShown } from '../shown.js';
import { withTarget, withTargetOptions, type Target, type TargetOptions } from '../transfer/target.js';
import { report } from './import-report.js';
import { restoreTarget } from './import-restore.js';
import { CommandFailed, wholeNumber } from './options.js';
import { timeOption } from './time-option.js';

interface MigrateOptions extends TargetOptions {
  readonly from: string;
  readonly fromUser?: string;
  readonly fromToken?: string;
  readonly since?: Date;
  readonly lenient?: true;
  readonly dryRun?: true;
  readonly parallel: number;
  readonly subject?: 'keep' | 'drop';
  readonly progress?: string;
  readonly errors?: string;
  readonly report?: string;
}

/** How long a request is repeated while a server is away. */
const PATIENCE_MS = 60_000;

const HELP = `
Reads another server of ITS-REST by its API, as far as that shows it: templates, stored queries, EHRs, all versions of their EHR_STATUSes
and COMPOSITIONs with times, audits and uids, and CONTRIBUTIONs. So it is with directories whose CONTRIBUTIONs it lists; of others the times
are searched, and who made them stays unknown. Here the user needs the permissions restore and write.

An EHR with content that breaks rules of this server stays where it is, unless --lenient keeps the content as it is and marks it;
\`everchart verify\` lists what is marked. What is here already is left as it is, so a migration may be repeated; one that
was stopped goes on. docs/migration.md has the cut-over as a check-list.`;

/** `everchart migrate`: everything that another server shows into this one, as it was made. */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .requiredOption('--from <url>', 'base of the other API, such as https://host/ehrbase/rest/openehr/v1')
    .option('--from-user <name>', 'its user; the password is EVERCHART_FROM_PASSWORD, or asked for')
    .option('--from-token <token>', 'its bearer token; better in EVERCHART_FROM_TOKEN')
    .option('--since <time>', 'only EHRs to which something was committed since', timeOption)
    .option('--lenient', 'keep content that breaks rules, marked')
    .option('--dry-run', 'read definitions and some EHRs, and say what would be met; write nothing')
    .option('--parallel <count>', 'EHRs read at once', wholeNumber(1, 64), 8)
    .addOption(
      new Option(
        '--subject <choice>',
        'refuse an EHR whose subject another one has, or make it without (default: keep)',
      ).choices(['keep', 'drop']),
    )
    .option('--progress <file>', 'progress file (default: <host>.migrate-progress.json)')
    .option('--errors <file>', 'error file (default: <host>.migrate-errors.ndjson)')
    .option(
      '--report <file>',
      'write what it came to, with heads of the seals and a digest of what the other server answered',
    )
    .addHelpText('after', HELP)
    .action((options: MigrateOptions) => runCommand(options));
  return withTargetOptions(command);
}

/** What is read, and where the state of that is kept. */
interface Source {
  /** Base of the other API. */
  readonly url: string;
  readonly server: OldServer;
  readonly definitions: OldDefinitions;
  readonly judge: Judge;
  readonly ehrIds: readonly string[];
}

async function runCommand(options: MigrateOptions): Promise<void> {
  const { from: url, fromUser: user, fromToken: token } = options;
  const from = await peerAddress('from', { url, user, token });
  const server = new OldServer(apiClient({ ...from, repeatForMs: PATIENCE_MS }));
  const definitions = new OldDefinitions(server);
  const judge = judging(definitions, options.local === true ? configFromEnvironment() : loadConfig({}));
  const ehrIds = await oldEhrIds(server, options.since ?? null);
  const source = { url: from.url, server, definitions, judge, ehrIds };
  if (options.dryRun === true) {
    writeShown(process.stdout, rehearsalText(await rehearsed(source, ehrIds, options.parallel)));
    return;
  }
  const place = new URL(from.url).host.replaceAll(':', '-');
  const errorFile = options.errors ?? `${place}.migrate-errors.ndjson`;
  const files = new ImportFiles(options.progress ?? `${place}.migrate-progress.json`, errorFile);
  const start = performance.now();
  const state = await withTarget(options, PATIENCE_MS, (target) => moved(options, { source, files }, target));
  tell(state, { start, errorFile });
}

async function moved(
  options: MigrateOptions,
  { source, files }: { readonly source: Source; readonly files: ImportFiles },
  { client, url, settings }: Pick<Target, 'client' | 'url' | 'settings'>,
): Promise<MigrationState> {
  const state = openPass(files, passOf(options, source, targetName(url, settings)), (line) => {
    writeShown(process.stderr, `${line}\n`);
  });
  state.runs = (state.runs ?? 0) + 1;
  if (state.sealBefore === undefined) state.sealBefore = await sealHeadOf({ client, settings });
  files.save(state, []);
  writeShown(process.stdout, `batch ${state.importId}\n`);
  await carriedOut({ options, source, state, files }, { client, settings });
  files.finish();
  if (options.report !== undefined)
    await writeProof(options.report, {
      kind: 'migration',
      ...{ from: state.startedAt, to: new Date().toISOString(), other: source.url },
      seal_before: state.sealBefore,
      seal_after: await sealHeadOf({ client, settings }),
      answers: state.answers ?? NO_ANSWER,
      result: resultOf(state),
    });
  return state;
}

function passOf(
  { since, lenient, subject = 'keep' }: MigrateOptions,
  { url }: Source,
  target: string,
): MigrationPass {
  return { from: url, since: since?.toISOString() ?? null, lenient: lenient === true, subject, target };
}

/** What one run of a pass works on. */
interface Run {
  readonly options: MigrateOptions;
  readonly source: Source;
  readonly state: MigrationState;
  readonly files: ImportFiles;
}

async function carriedOut(
  { options, source, state, files }: Run,
  { client, settings }: Pick<Target, 'client' | 'settings'>,
): Promise<void> {
  const { ehrIds, ...old } = source;
  const { after = '', answers = NO_ANSWER } = state;
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{value}/{total} EHRs, {eta_formatted} left' })
    : null;
  bar?.start(ehrIds.length, ehrIds.filter((ehrId) => ehrId <= after).length);
  const how = { batch: state.importId, dropsSubjects: options.subject === 'drop' };
  const target = await restoreTarget({ client, settings }, how);
  const plan = {
    ...{ ...old, client, state, target, parallel: options.parallel },
    isLenient: options.lenient === true,
    save: (failed: readonly FailedRecord[]): void => {
      state.answers = addedAnswers(answers, old.server.answers);
      files.save(state, failed);
    },
    onEhr: () => bar?.increment(),
  };
  await migrate(plan, ehrIds);
  bar?.stop();
}

function resultOf(state: MigrationState): Readonly<Record<string, unknown>> {
  const { importId: batch, runs, imported, unchanged, failed, causes, ehrs = 0, directories = 0 } = state;
  const { missing = 0, firstMissing = [], unlisted = 0, withoutCommitter = 0 } = state;
  return {
    ...{ batch, runs, ehrs, directories, imported, unchanged, failed, causes },
    ...{ missing, first_missing: firstMissing, unlisted, without_committer: withoutCommitter },
  };
}

/** Prints what a migration came to. @throws CommandFailed when something was refused or could not be found */
function tell(state: MigrationState, reported: Parameters<typeof report>[1]): void {
  const { ehrs = 0, directories = 0, missing = 0, firstMissing = [], unlisted = 0 } = state;
  const { withoutCommitter = 0 } = state;
  writeShown(process.stdout, `${ehrs} EHRs read\n`);
  if (directories > 0)
    writeShown(
      process.stdout,
      `${directories} directories were committed as they are now: the other server does not show their versions\n`,
    );
  if (withoutCommitter > 0)
    writeShown(
      process.stdout,
      `of ${withoutCommitter} versions of directories the other server tells when they were made, and not by whom\n`,
    );
  if (unlisted > 0)
    writeShown(
      process.stdout,
      `of ${unlisted} EHRs the other server lists no CONTRIBUTIONs: a COMPOSITION or directory that was deleted is there only if a CONTRIBUTION of others names it\n`,
    );
  if (missing > 0) {
    const lines = firstMissing.map((line) => `  ${line}\n`).join('');
    writeShown(process.stderr, `${missing} were named and not shown, such as\n${lines}`);
  }
  report(state, reported);
  if (missing > 0) throw new CommandFailed();
}
