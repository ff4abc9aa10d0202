import { Option, type Command } from 'commander';
import type { Settings } from '../../config/settings.js';
import { Cdr, CdrError } from '../../packages/client/src/main.js';
import { remoteAddress, type AddressOptions, type RemoteAddress } from './address.js';
import { apiClient, reasonOf, type ApiClient } from './api-client.js';

/** The options that say which server a command talks to. */
export interface TargetOptions extends AddressOptions {
  readonly local?: true;
}

/** The server of a command. */
export interface Target {
  /** For moving records: patient, and without a copy of each body. */
  readonly client: ApiClient;
  /** For everything else. */
  readonly cdr: Cdr;
  /** Its address; of a server inside this process another one each time. */
  readonly url: string;
  /** Of a server started for this command; null: another process. */
  readonly settings: Settings | null;
}

/** Who changes what a command changes in a server of its own. */
const LOCAL_USER = 'everchart';

/** Who commits what a command commits without the API. */
export const LOCAL_COMMITTER = { _type: 'PARTY_IDENTIFIED', name: LOCAL_USER } as const;

/** Adds `--url`, `--user`, `--token` and `--local` to a command. */
export function withTargetOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--url <address>',
        'address of the server (env: EVERCHART_URL; default: where the settings HOST, PORT and BASE_PATH say)',
      ).conflicts('local'),
    )
    .addOption(
      new Option(
        '--user <name>',
        'user of Basic authentication (env: EVERCHART_USER); the password is EVERCHART_PASSWORD, or asked for',
      ).conflicts('local'),
    )
    .addOption(
      new Option('--token <token>', 'bearer token; better in EVERCHART_TOKEN, where `ps` does not show it'),
    )
    .option('--local', 'work on the configured database through a server inside this process');
}

/** Runs `work` against the server that the options name; one that was started for it is closed again. */
export async function withTarget<T>(
  options: TargetOptions,
  repeatForMs: number,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  if (options.local !== true) {
    const address = await remoteAddress(options);
    return saying(address.url, () =>
      work({ ...clientsOf(address, repeatForMs), url: address.url, settings: null }),
    );
  }
  // Only here: the server is most of the program.
  const { startLocalServer } = await import('./local-server.js');
  const { server, settings, token } = await startLocalServer(LOCAL_USER);
  const { url } = server;
  try {
    const clients = clientsOf({ url, identity: { token } }, repeatForMs);
    return await saying(url, () => work({ ...clients, url, settings }));
  } finally {
    await server.close();
  }
}

function clientsOf({ url, identity }: RemoteAddress, repeatForMs: number): Pick<Target, 'client' | 'cdr'> {
  return {
    client: apiClient({ url, identity, repeatForMs }),
    // A person waits: what fails says so at once.
    cdr: new Cdr({ url, ...identity, retries: 0 }),
  };
}

/** Errors of the client as a person at a terminal reads them: where, why, and each finding. */
async function saying<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const { status, violations, reasons, cause } = error;
    if (status === 0) throw new Error(`cannot reach ${url}: ${reasonOf(cause)}`, { cause: error });
    const findings = [...violations.map(({ path, message }) => `${path}: ${message}`), ...reasons];
    // One finding is the message already.
    const lines = findings.length > 1 ? findings.map((line) => `\n  ${line}`).join('') : '';
    throw new Error(`${error.message}${lines}`, { cause: error });
  }
}
