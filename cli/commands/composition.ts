import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type {
  COMPOSITION,
  CompositionContent,
  CompositionFormat,
  Flat,
  Structured,
  VersionInfo,
} from '../../packages/client/src/main.js';
import { writeShown } from '../shown.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';

type Options = TargetOptions & JsonOption;

interface CommitOptions extends Options {
  readonly template?: string;
  readonly committer?: string;
  readonly description?: string;
}

/** `everchart composition`: COMPOSITIONs of one EHR. */
export function compositionCommand(): Command {
  const command = new Command('composition');
  const list = of('list', 'Prints what an EHR has, newest first', listAll);
  const get = of(
    'get',
    'Prints a COMPOSITION: the latest version, or the one that is named',
    (args, options) => getOne(args, options as Options & { format: CompositionFormat; at?: string }),
  )
    .argument('<id>', 'id of the COMPOSITION or of a version')
    .addOption(
      new Option('--format <format>', 'how it is printed')
        .choices(['JSON', 'XML', 'FLAT', 'STRUCTURED'])
        .default('JSON'),
    )
    .option('--at <time>', 'as it was then');
  const history = of('history', 'Prints the versions, oldest first', historyOf).argument('<id>');
  const create = committing(of('create', 'Commits a COMPOSITION from a file', createOne)).argument(
    '<file>',
    'canonical JSON or XML, FLAT or STRUCTURED; - for stdin',
  );
  const update = committing(of('update', 'Makes a new version from a file', updateOne))
    .argument('<version_uid>', 'the version that is changed, which must be the latest')
    .argument('<file>');
  const remove = committing(
    of('delete', 'Marks a COMPOSITION as deleted; all its versions stay', deleteOne),
  ).argument('<version_uid>', 'the latest version');
  for (const sub of [list, get, history, create, update, remove])
    command.addCommand(withTargetOptions(sub.option(...JSON_FLAG)));
  return command;
}

type Action = (args: readonly string[], options: CommitOptions) => Promise<void>;

/** A sub-command whose first argument is the EHR. */
function of(name: string, description: string, action: Action): Command {
  return new Command(name)
    .description(description)
    .argument('<ehr_id>')
    .action((...given: unknown[]) => action(given.slice(0, -2) as string[], given.at(-2) as CommitOptions));
}

function committing(command: Command): Command {
  return command
    .option('--template <template_id>', 'template of FLAT and STRUCTURED content')
    .option('--committer <name>', 'who commits, where that is not the user')
    .option('--description <text>', 'why');
}

async function listAll([ehrId = '']: readonly string[], options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const { compositions } = cdr.ehr(ehrId);
    const all = await compositions.list();
    for (let page = all; page.length === PAGE; all.push(...page))
      page = await compositions.list({ fetch: PAGE, offset: all.length });
    print(options, all, () => tableOf(['uid', 'template', 'name', 'start_time', 'composer'], all));
  });
}

/** Rows of a page of the client. */
const PAGE = 100;

async function getOne(
  [ehrId = '', id = '']: readonly string[],
  { format, at, ...options }: Options & { readonly format: CompositionFormat; readonly at?: string },
): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const stored = await cdr.ehr(ehrId).compositions.get(id, { format, at });
    if (stored === undefined) throw new Error(`COMPOSITION ${id} is deleted`);
    const { content } = stored;
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    writeShown(process.stdout, `${text}\n`);
  });
}

async function historyOf([ehrId = '', id = '']: readonly string[], options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const versions = await cdr.ehr(ehrId).compositions.history(id);
    print(options, versions, () => tableOf(['uid', 'time', 'change', 'committer', 'description'], versions));
  });
}

const createOne: Action = async ([ehrId = '', file = ''], options) => {
  await withTarget(options, 0, async ({ cdr }) => {
    const made = await cdr.ehr(ehrId).compositions.commit(contentOf(file), detailsOf(options));
    printVersion(made, options);
  });
};

const updateOne: Action = async ([ehrId = '', version = '', file = ''], options) => {
  await withTarget(options, 0, async ({ cdr }) => {
    const made = await cdr.ehr(ehrId).compositions.update(version, contentOf(file), detailsOf(options));
    printVersion(made, options);
  });
};

const deleteOne: Action = async ([ehrId = '', version = ''], options) => {
  await withTarget(options, 0, async ({ cdr }) => {
    await cdr.ehr(ehrId).compositions.delete(version, detailsOf(options));
    print(options, { deleted: version }, () => `${version} is deleted`);
  });
};

function printVersion(made: VersionInfo, options: JsonOption): void {
  print(options, made, () => made.uid);
  if (options.json === true) return;
  for (const warning of made.warnings) writeShown(process.stderr, `${warning}\n`);
}

const STDIN = 0;

/** Text of XML, an object of JSON. @throws Error naming the file whose JSON is broken */
function contentOf(file: string): CompositionContent {
  const text = readFileSync(file === '-' ? STDIN : file, 'utf8');
  if (text.trimStart().startsWith('<')) return text;
  try {
    return JSON.parse(text) as COMPOSITION | Flat | Structured;
  } catch (error) {
    throw new Error(`${file}: it is neither XML nor JSON`, { cause: error });
  }
}

function detailsOf({ template, committer, description }: CommitOptions) {
  const audit = {
    ...(committer !== undefined && { 'committer.name': committer }),
    ...(description !== undefined && { 'description.value': description }),
  };
  return { template, audit };
}
