import { Command } from 'commander';
import type { EhrList, ListedEhr, Subject } from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type Target, type TargetOptions } from '../transfer/target.js';
import { requireYes, YES_FLAG, type YesOption } from './options.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

type Options = TargetOptions & JsonOption;

interface CreateOptions extends Options {
  readonly id?: string;
  readonly subjectId?: string;
  readonly subjectNamespace?: string;
}

/** `everchart ehr`: EHRs of a server. */
export function ehrCommand(): Command {
  const command = new Command('ehr');
  const create = new Command('create')
    .description('Creates an EHR and prints its id')
    .option('--id <ehr_id>', 'a UUID; the server makes one unless given')
    .option('--subject-id <id>', 'id of the patient in another system')
    .option('--subject-namespace <namespace>', 'the system that gave this id')
    .action((options: CreateOptions) => createEhr(create, options));
  const get = new Command('get')
    .description('Prints an EHR')
    .argument('<ehr_id>')
    .action((ehrId: string, options: Options) => getEhr(ehrId, options));
  const find = new Command('find')
    .description('Finds EHRs by an EHR id, a subject id or an identifier of the EHR_STATUS')
    .argument('<identifier>')
    .action((identifier: string, options: Options) =>
      listed(options, ({ cdr }) => cdr.ehr.search(identifier)),
    );
  const list = new Command('list')
    .description('Prints all EHRs, by id; needs the permission admin')
    .action((options: Options) => listed(options, allEhrs));
  const erase = new Command('delete')
    .description('Erases an EHR with all it holds, for ever; needs the permission admin')
    .argument('<ehr_id>')
    .option('--cascade', 'with the EHRs that were merged into it')
    .option(...YES_FLAG)
    .action((ehrId: string, options: Options & YesOption & { cascade?: true }) => eraseEhr(ehrId, options));
  for (const sub of [create, get, find, list, erase])
    command.addCommand(withTargetOptions(sub.option(...JSON_FLAG)));
  return command;
}

async function createEhr(command: Command, options: CreateOptions): Promise<void> {
  const { id, subjectId, subjectNamespace } = options;
  if ((subjectId === undefined) !== (subjectNamespace === undefined))
    command.error('error: --subject-id and --subject-namespace go together');
  const subject: Subject | undefined =
    subjectId === undefined || subjectNamespace === undefined
      ? undefined
      : { id: subjectId, namespace: subjectNamespace };
  await withTarget(options, 0, async ({ cdr }) => {
    const ehr = await cdr.ehr.create({ id, subject });
    print(options, { ehr_id: ehr.id }, () => ehr.id);
  });
}

async function getEhr(ehrId: string, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const ehr = await cdr.ehr(ehrId).get();
    const status = await cdr.ehr(ehrId).status.get();
    print(options, ehr, () =>
      tableOf(
        ['ehr_id', 'time_created', 'system_id', 'is_queryable', 'is_modifiable'],
        [
          {
            ehr_id: ehr.ehr_id.value,
            time_created: ehr.time_created.value,
            system_id: ehr.system_id.value,
            is_queryable: status.is_queryable,
            is_modifiable: status.is_modifiable,
          },
        ],
      ),
    );
  });
}

async function listed(options: Options, find: (target: Target) => Promise<EhrList>): Promise<void> {
  await withTarget(options, 0, async (target) => {
    const { ehrs, truncated } = await find(target);
    print(options, ehrs, () =>
      tableOf(
        ['ehr_id', 'time_created', 'subject', 'is_queryable', 'is_modifiable'],
        ehrs.map(({ subject, ...ehr }) => ({
          ...ehr,
          subject: subject && `${subject.namespace} ${subject.id}`,
        })),
      ),
    );
    if (truncated === true) writeShown(process.stderr, 'there are more\n');
  });
}

async function allEhrs({ cdr }: Target): Promise<EhrList> {
  const ehrs: ListedEhr[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const page = await cdr.admin.ehrs(after === '' ? {} : { after });
    ehrs.push(...page.ehrs);
    after = page.next;
  }
  return { ehrs };
}

async function eraseEhr(
  ehrId: string,
  options: Options & YesOption & { readonly cascade?: true },
): Promise<void> {
  requireYes(options, `EHR ${ehrId} and all it holds would be erased`);
  await withTarget(options, 0, async ({ cdr }) => {
    const waiting = await cdr.admin.deleteEhr(ehrId, { cascade: options.cascade });
    if (waiting === undefined) print(options, { erased: ehrId }, () => `EHR ${ehrId} is erased`);
    else
      print(
        options,
        { waiting },
        () => `EHR ${ehrId} is erased once a second person confirms ${waiting.approval_id}`,
      );
  });
}
