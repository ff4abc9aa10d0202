import { readFileSync } from 'node:fs';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { nodeIdsOf } from '../../../../openehr/template/opt/node-ids.js';
import { Catalogue, type WebTemplate } from '../../../aql/src/main.js';
import { filesOf } from './files.js';
import type { ServerOptions, TemplateServer } from './server.js';

/** Where templates come from: OPT files, or folders of them; a server without. */
export interface CatalogueOptions extends ServerOptions {
  readonly templates?: readonly string[];
}

/** The names of all templates of files, folders or a server. @throws Error naming the file that is no template */
export async function readCatalogue(options: CatalogueOptions, server: TemplateServer): Promise<Catalogue> {
  const catalogue = new Catalogue();
  const { templates } = options;
  if (templates === undefined) await server.each(options, (opt) => addOpt(catalogue, opt));
  else for (const file of filesOf(templates, '.opt')) addFile(catalogue, file);
  return catalogue;
}

function addFile(catalogue: Catalogue, file: string): void {
  try {
    addOpt(catalogue, readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function addOpt(catalogue: Catalogue, opt: string): void {
  const { webTemplateText } = compileTemplate(opt);
  catalogue.add(JSON.parse(webTemplateText.toString()) as WebTemplate, nodeIdsOf(opt));
}
