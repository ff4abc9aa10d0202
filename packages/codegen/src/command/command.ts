import { Command } from 'commander';
import { queriesCommand } from './queries.js';
import { runCommand } from './run.js';
import type { TemplateServer } from './server.js';
import { templatesCommand } from './templates.js';

/** `codegen`: TypeScript for those who write clients; templates come from files or from a server as `server` reaches it. */
export function codegenCommand(name: string, server: TemplateServer): Command {
  return new Command(name)
    .description('Writes TypeScript from templates and queries')
    .addCommand(runCommand(server), { isDefault: true })
    .addCommand(templatesCommand(server))
    .addCommand(queriesCommand(server));
}
