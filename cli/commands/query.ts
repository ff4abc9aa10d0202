import { readFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { textTable, openOutput } from '../output.js';
import { answerError, type ApiClient } from '../transfer/api-client.js';
import { ADHOC, copyCsv, copyRows } from '../transfer/query-rows.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { wholeNumber } from './options.js';
import type { JsonOption } from './print.js';
import { storedQueryCommands } from './stored-query.js';

interface QueryOptions extends TargetOptions, JsonOption {
  readonly file?: string;
  readonly stored?: string;
  readonly format: 'table' | 'csv' | 'ndjson';
  readonly param: JsonObject;
  readonly ehr?: string;
  readonly fetch?: number;
  readonly offset?: number;
  readonly output?: string;
}

/** `everchart query`: runs AQL; stored queries have words of their own. */
export function queryCommand(): Command {
  const command = new Command('query').addCommand(runCommand(), { isDefault: true });
  for (const sub of storedQueryCommands()) command.addCommand(sub);
  return command;
}

/** The answer of a query as table, CSV or NDJSON. */
function runCommand(): Command {
  const command = new Command('run')
    .description('Runs a query and prints its rows; the word `run` may be left out')
    .addArgument(new Argument('[aql]', 'the query; or --file'))
    .option('--file <file>', 'read the query from a file')
    .option('--stored <name>', 'run the stored query of this name, or name/version')
    .option('--json', 'the whole answer of the server, as JSON')
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
  const { file, stored, param, ehr, fetch, offset, format, json } = options;
  if ([aql, file, stored].filter((given) => given !== undefined).length !== 1)
    command.error('error: give the query either as argument, or with --file, or with --stored');
  const q = aql ?? (file === undefined ? undefined : readFileSync(file, 'utf8'));
  const body = JSON.stringify({
    ...(q !== undefined && { q }),
    query_parameters: param,
    ...(ehr !== undefined && { ehr_id: ehr }),
    ...(fetch !== undefined && { fetch }),
    ...(offset !== undefined && { offset }),
  });
  const path = stored === undefined ? ADHOC : `/query/${stored.split('/').map(encodeURIComponent).join('/')}`;
  const output = openOutput(options.output);
  await withTarget(options, 0, async ({ client }) => {
    if (json === true) await output.write(`${await resultOf(client, path, body)}\n`);
    else if (format === 'table') await output.write(tableOf(await resultOf(client, path, body)));
    else if (format === 'csv') await copyCsv(client, body, output, path);
    else await copyRows(client, body, output, path);
  });
  await output.end();
}

/** The text of a RESULT_SET. @throws AnswerError */
async function resultOf(client: ApiClient, path: string, body: string): Promise<string> {
  const { status, text } = await client.send('POST', path, { body });
  if (status !== 200) throw answerError(status, text);
  return text;
}

function tableOf(text: string): string {
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
