import { withTarget, type TargetOptions } from './target.js';

/**
 * Gives the OPT of every template of a server, one after the other: a server may have more than memory should hold.
 * @throws Error as the server answers one
 */
export async function eachTemplateOf(options: TargetOptions, take: (opt: string) => void): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    for (const { template_id } of await cdr.templates.list()) take(await cdr.templates.get(template_id));
  });
}
