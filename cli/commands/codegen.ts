import type { Command } from 'commander';
import { codegenCommand as codegen, type TemplateServer } from '../../packages/codegen/src/main.js';
import { eachTemplateOf } from '../transfer/server-templates.js';
import { withTargetOptions } from '../transfer/target.js';

/** The server of every other command: also one inside this process. */
const TARGET: TemplateServer = { withOptions: withTargetOptions, each: eachTemplateOf };

/** `everchart codegen`: TypeScript for those who write clients. */
export function codegenCommand(): Command {
  return codegen('codegen', TARGET);
}
