import { Command } from 'commander';
import { serveAql } from '../../packages/aql-lsp/src/main.js';
import { readCatalogue, type CatalogueOptions } from '../../packages/codegen/src/main.js';
import { PRODUCT, PRODUCT_VERSION } from '../../routes/system/product.js';
import { TARGET } from './codegen.js';
import { withTargetOptions } from '../transfer/target.js';

/** `everchart aql-lsp`: AQL in editors, over the language server protocol. */
export function aqlLspCommand(): Command {
  const command = new Command('aql-lsp')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .option('--stdio', 'what editors say; it is always so')
    .action((options: CatalogueOptions) =>
      serveAql({ name: PRODUCT, version: PRODUCT_VERSION, catalogue: readCatalogue(options, TARGET) }),
    );
  return withTargetOptions(command);
}
