import { Option, type Command } from 'commander';
import { Cdr } from '../../../client/src/main.js';

/** What the options say of a server. */
export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
}

/** How a command reaches the templates of a server. */
export interface TemplateServer {
  /** Adds the options that name the server. */
  withOptions(command: Command): Command;
  /** Gives the OPT of every template, one after the other: a server may have more than memory should hold. */
  each(options: ServerOptions, take: (opt: string) => void): Promise<void>;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** A server that is reached by its API alone, with a token where it wants one. */
export const remoteServer: TemplateServer = {
  withOptions: (command) =>
    command
      .addOption(
        new Option('--url <address>', 'address of the server').default(DEFAULT_URL).env('EVERCHART_URL'),
      )
      .addOption(
        new Option(
          '--token <token>',
          'bearer token; better in the environment, where `ps` does not show it',
        ).env('EVERCHART_TOKEN'),
      ),
  async each({ url = DEFAULT_URL, token }, take) {
    const cdr = new Cdr({ url, ...(token !== undefined && { token }) });
    for (const { template_id } of await cdr.templates.list()) take(await cdr.templates.get(template_id));
  },
};
