import { Command } from 'commander';
import { readCatalogue, remoteServer, runProgram, type CatalogueOptions } from '../../codegen/src/main.js';
import { serveAql } from './main.js';

const NAME = 'everchart-aql-lsp';

/** Runs `everchart-aql-lsp` with these arguments and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export function runLanguageServer(args: readonly string[], version: string): Promise<number> {
  const command = new Command(NAME)
    .description('A language server of AQL over stdin and stdout: completion, hover, diagnostics, formatting')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .option('--stdio', 'what editors say; it is always so')
    .action((options: CatalogueOptions) =>
      serveAql({ name: NAME, version, catalogue: readCatalogue(options, remoteServer) }),
    );
  return runProgram(remoteServer.withOptions(command).version(version), args);
}
