import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { readConfig, type FoundConfig } from './config.js';
import { generateQueries, queryFiles } from './queries.js';
import type { ServerOptions, TemplateServer } from './server.js';
import { generateTemplates } from './templates.js';
import { filesOf } from './files.js';
import { onceOrWatching } from './watch.js';

interface Options extends ServerOptions {
  readonly config?: string;
  readonly watch?: true;
  readonly check?: true;
}

/** `codegen` without more: what the configuration of this folder says. */
export function runCommand(server: TemplateServer): Command {
  const command = new Command('run')
    .description('Writes what everchart.config.ts names: templates, queries or both')
    .option('-c, --config <file>', 'another configuration than that of this folder')
    .option('--check', 'write nothing; an error where a file would be another one now')
    .option('-w, --watch', 'write again whenever a file changes, until it is stopped')
    .action(async (options: Options) => {
      const found = await readConfig(options.config);
      // An address on the command line wins; what is a default does not.
      const isAsked = command.getOptionValueSource('url') === 'cli';
      const { url } = isAsked ? options : found.config;
      const isQuiet = options.watch === true;
      const target = { ...options, isQuiet, ...(url !== undefined && { url }) };
      const watched = isQuiet ? () => watchedOf(found) : null;
      await onceOrWatching(() => generate(found, target, server), watched);
    });
  return server.withOptions(command);
}

/** Which server is asked, and whether only what is new is told. */
interface Target extends ServerOptions {
  readonly isQuiet: boolean;
  readonly check?: true;
}

/** Writes all that a configuration names. @throws Error with every mistake that was found */
export async function generate(found: FoundConfig, target: Target, server: TemplateServer): Promise<void> {
  const { templates, queries } = found.config;
  if (templates !== undefined) {
    const { importExtension = 'js', output } = templates;
    const to = { ...target, importExtension, output: shown(found, output) };
    await generateTemplates(pathsOf(found, templates.files ?? []), to, server);
  }
  if (queries !== undefined) {
    const to = { ...target, output: shown(found, queries.output) };
    const against = queries.templates && { templates: pathsOf(found, queries.templates) };
    await generateQueries(pathsOf(found, queries.files), { ...to, ...against }, server);
  }
}

/** The files that it names as they are now, those of its folders too. */
export function watchedOf(found: FoundConfig): readonly string[] {
  const { opts, queries } = pathsIn(found);
  return [...filesOf(opts, '.opt'), ...queryFiles(queries)];
}

/** The files and folders that it names. */
export function namedBy(found: FoundConfig): readonly string[] {
  const { opts, queries } = pathsIn(found);
  return [...opts, ...queries];
}

function pathsIn(found: FoundConfig): {
  readonly opts: readonly string[];
  readonly queries: readonly string[];
} {
  const { templates, queries } = found.config;
  const opts = [...(templates?.files ?? []), ...(queries?.templates ?? [])];
  return { opts: pathsOf(found, opts), queries: pathsOf(found, queries?.files ?? []) };
}

function pathsOf({ folder }: FoundConfig, paths: readonly string[]): readonly string[] {
  return paths.map((path) => resolve(folder, path));
}

/** As seen from where the command runs. */
function shown({ folder }: FoundConfig, output: string): string {
  return join(relative(process.cwd(), resolve(folder, output)));
}
