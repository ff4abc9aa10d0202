import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { requireYes, YES_FLAG, type YesOption } from './options.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';

type Options = TargetOptions & JsonOption;

/** `everchart query list`, `show`, `store`, `delete`: the texts of stored queries. */
export function storedQueryCommands(): Command[] {
  const list = new Command('list')
    .description('Prints the stored queries')
    .argument('[name]', 'only those whose name begins so')
    .action((name: string | undefined, options: Options) => listQueries(name, options));
  const show = new Command('show')
    .description('Prints the text of a stored query')
    .argument('<name>')
    .argument('<version>', 'whole, or its beginning')
    .action(showQuery);
  const store = new Command('store')
    .description('Stores a query from a file and prints its version')
    .argument('<name>', '[namespace::]name')
    .argument('<file>', 'AQL; - for stdin')
    .option(
      '--as <version>',
      'major.minor.patch; unless given the next major one, or 1.0.0 anew where the server speaks ITS-REST 1.1.0',
    )
    .action((name: string, file: string, options: Options & { as?: string }) =>
      storeQuery(name, file, options),
    );
  const erase = new Command('delete')
    .description('Erases a version of a stored query; needs the permission admin')
    .argument('<name>')
    .argument('<version>')
    .option(...YES_FLAG)
    .action(eraseQuery);
  return [list, show, store, erase].map((sub) => withTargetOptions(sub.option(...JSON_FLAG)));
}

async function listQueries(name: string | undefined, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const queries = await cdr.queries.list(name);
    print(options, queries, () => tableOf(['name', 'version', 'saved', 'q'], queries));
  });
}

async function showQuery(name: string, version: string, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const query = await cdr.queries.get(name, version);
    print(options, query, () => query.q);
  });
}

const STDIN = 0;

async function storeQuery(
  name: string,
  file: string,
  options: Options & { readonly as?: string },
): Promise<void> {
  const q = readFileSync(file === '-' ? STDIN : file, 'utf8');
  await withTarget(options, 0, async ({ cdr }) => {
    const version = await cdr.queries.store(name, q, { version: options.as });
    print(options, { name, version }, () => version);
  });
}

async function eraseQuery(name: string, version: string, options: Options & YesOption): Promise<void> {
  requireYes(options, `${name} ${version} would be erased`);
  await withTarget(options, 0, async ({ cdr }) => {
    await cdr.admin.deleteStoredQuery(name, version);
    print(options, { erased: { name, version } }, () => `${name} ${version} is erased`);
  });
}
