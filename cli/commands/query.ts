import { readFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { textTable, openOutput } from '../output.js';
import { answerError } from '../transfer/api-client.js';
import { copyCsv, copyRows } from '../transfer/query-rows.js';
import { withTarget, withTargetOptions, type Target, type TargetOptions } from '../transfer/target.js';
import { wholeNumber } from './options.js';

interface QueryOptions extends TargetOptions {
  readonly file?: string;
  readonly format: 'table' | 'csv' | 'ndjson';
  readonly param: JsonObject;
  readonly ehr?: string;
  readonly fetch?: number;
  readonly offset?: number;
  readonly output?: string;
}

/** `everchart query`: the answer of an AQL query as table, CSV or NDJSON. */
export function queryCommand(): Command {
  const command = new Command('query')
    .description('Runs an AQL query and prints its rows')
    .addArgument(new Argument('[aql]', 'the query; or --file'))
    .option('--file <file>', 'read the query from a file')
    .addOption(
      new Option('--format <format>', 'how rows are printed: ndjson is one JSON object a row')
        .choices(['table', 'csv', 'ndjson'])
        .default('table'),
    )
    .addOption(
      new Option(
        '--param <name=value>',
        'value of $name: a number, true, false or else text; may be repeated',
      )
        .argParser(addParameter)
        .default({}, 'none'),
    )
    .option('--ehr <ehr_id>', 'only this EHR')
    .option('--fetch <count>', 'at most so many rows', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--offset <count>', 'leave out so many rows', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--output <file>', 'write to a file instead of stdout')
    .action((aql: string | undefined, options: QueryOptions) => runQuery(command, aql, options));
  return withTargetOptions(command);
}

async function runQuery(command: Command, aql: string | undefined, options: QueryOptions): Promise<void> {
  if ((aql === undefined) === (options.file === undefined))
    command.error('error: give the query either as argument or with --file');
  const q = aql ?? readFileSync(options.file ?? '', 'utf8');
  const body = JSON.stringify({
    q,
    query_parameters: options.param,
    ...(options.ehr !== undefined && { ehr_id: options.ehr }),
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    ...(options.offset !== undefined && { offset: options.offset }),
  });
  const output = openOutput(options.output);
  await withTarget(options, 0, async (target) => {
    if (options.format === 'table') await output.write(await tableOf(target, body));
    else if (options.format === 'csv') await copyCsv(target.client, body, output);
    else await copyRows(target.client, body, output);
  });
  await output.end();
}

async function tableOf({ client }: Target, body: string): Promise<string> {
  const { status, text } = await client.send('POST', '/query/aql', { body });
  if (status !== 200) throw answerError(status, text);
  const answer = JSON.parse(text) as { columns: { name: string }[]; rows: JsonValue[][] };
  const names = answer.columns.map(({ name }) => name);
  const count = answer.rows.length;
  return `${textTable(names, answer.rows)}\n${count} ${count === 1 ? 'row' : 'rows'}\n`;
}

function addParameter(text: string, earlier: JsonObject): JsonObject {
  const cut = text.indexOf('=');
  if (cut < 1) throw new InvalidArgumentError('It must be name=value.');
  const name = text.slice(0, cut).replace(/^\$/, '');
  return { ...earlier, [name]: valueOf(text.slice(cut + 1)) };
}

/** A code of digits that must stay text is given in quotes: `--param "code='840539006'"`. */
function valueOf(text: string): JsonValue {
  const quoted = /^'(.*)'$/s.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
