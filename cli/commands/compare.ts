import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { STANDARD_API } from '../../routes/http/request/request-state.js';
import { compare, type Difference } from '../migrate/compare.js';
import { OldServer } from '../migrate/old-server.js';
import { sealHeadOf, writeProof } from '../migrate/proof.js';
import { peerAddress } from '../transfer/address.js';
import { apiClient, type ApiClient } from '../transfer/api-client.js';
import { withCount } from '../count-shown.js';
import { openOutput } from '../output.js';
import { writeShown } from '../shown.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { CommandFailed, wholeNumber } from './options.js';

interface CompareOptions extends TargetOptions {
  readonly with: string;
  readonly withUser?: string;
  readonly withToken?: string;
  readonly queries?: string;
  readonly output?: string;
  readonly parallel: number;
  readonly report?: string;
}

/** How long a request is repeated while a server is away. */
const PATIENCE_MS = 60_000;
/** Differences that are shown. */
const SHOWN = 20;

const HELP = `
Reads both servers by ITS-REST and compares templates, stored queries, every version of EHR_STATUSes, COMPOSITIONs and directories (where one shows no
versions of these: as they are now), CONTRIBUTIONs, item tags where both have them, how many EHRs and COMPOSITIONs queries find, and the rows of the
queries in a file, one a line. The lists of versions of COMPOSITIONs that are here and were deleted there are compared too. What is
null or an empty list says nothing; times are compared as moments. The exit code is 1 when anything differs.`;

/** `everchart compare`: whether this server and another one say the same. */
export function compareCommand(): Command {
  const command = new Command('compare')
    .requiredOption('--with <url>', 'base of the other API, such as https://host/ehrbase/rest/openehr/v1')
    .option('--with-user <name>', 'its user; the password is EVERCHART_WITH_PASSWORD, or asked for')
    .option('--with-token <token>', 'its bearer token; better in EVERCHART_WITH_TOKEN')
    .option('--queries <file>', 'AQL whose rows are compared, one query a line')
    .option('--output <file>', 'write every difference there, one JSON object a line')
    .option('--parallel <count>', 'EHRs read at once', wholeNumber(1, 64), 8)
    .option(
      '--report <file>',
      'write what it came to, with heads of the seals and a digest of what the other server answered',
    )
    .addHelpText('after', HELP)
    .action((options: CompareOptions) => runCommand(options));
  return withTargetOptions(command);
}

async function runCommand(options: CompareOptions): Promise<void> {
  const { with: url, withUser: user, withToken: token } = options;
  const peer = await peerAddress('with', { url, user, token });
  const there = new OldServer(apiClient({ ...peer, repeatForMs: PATIENCE_MS }));
  const differences: Difference[] = [];
  const begun = new Date().toISOString();
  await withTarget(options, PATIENCE_MS, async ({ client, settings }) => {
    const sealBefore = await sealHeadOf({ client, settings });
    const ehrs = await compared(options, { client, there, differences });
    writeShown(process.stdout, `${ehrs} EHRs compared, ${differences.length} differences\n`);
    if (options.report === undefined) return;
    await writeProof(options.report, {
      kind: 'comparison',
      ...{ from: begun, to: new Date().toISOString(), other: peer.url },
      ...{
        seal_before: sealBefore,
        seal_after: await sealHeadOf({ client, settings }),
        answers: there.answers,
      },
      result: { ehrs, counts: Object.fromEntries(counted(differences)), differences },
    });
  });
  if (options.output !== undefined) await written(options.output, differences);
  for (const [kind, count] of counted(differences)) writeShown(process.stdout, `  ${count} × ${kind}\n`);
  for (const one of differences.slice(0, SHOWN)) writeShown(process.stderr, `${textOf(one)}\n`);
  if (differences.length > 0) throw new CommandFailed();
}

/** Compares, and gives how many EHRs both have. */
async function compared(
  { queries, parallel }: CompareOptions,
  { client, there, differences }: Compared,
): Promise<number> {
  return withCount('EHRs compared', (onEhr) =>
    compare({
      ...{ here: new OldServer(ofStandardApi(client)), there, parallel, onEhr },
      queries: queries === undefined ? [] : queriesIn(queries),
      note: (difference) => differences.push(difference),
    }),
  );
}

interface Compared {
  readonly client: ApiClient;
  readonly there: OldServer;
  /** Gets what differs. */
  readonly differences: Difference[];
}

/** The client of this server, whose paths are below its API as those of the other one are. */
function ofStandardApi(client: ApiClient): ApiClient {
  return {
    ...client,
    send: (method, path, request) => client.send(method, `${STANDARD_API}${path}`, request),
  };
}

function queriesIn(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

async function written(file: string, differences: readonly Difference[]): Promise<void> {
  const output = openOutput(file);
  for (const difference of differences) await output.write(`${JSON.stringify(difference)}\n`);
  await output.end();
}

function counted(differences: readonly Difference[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of differences) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function textOf({ kind, ehr_id: ehrId, id, path }: Difference): string {
  return `${kind}: ${id}${path === undefined ? '' : ` at ${path}`}${ehrId === undefined || ehrId === id ? '' : ` of EHR ${ehrId}`}`;
}
