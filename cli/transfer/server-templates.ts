import { answerError } from './api-client.js';
import { withTarget, type TargetOptions } from './target.js';

const TEMPLATES = '/definition/template/adl1.4';

/**
 * Gives the OPT of every template of a server, one after the other: a server may have more than memory should hold.
 * @throws Error as the server answers one
 */
export async function eachTemplateOf(options: TargetOptions, take: (opt: string) => void): Promise<void> {
  await withTarget(options, 0, async ({ client }) => {
    const get = async (path: string, accept: string): Promise<string> => {
      const { status, text } = await client.send('GET', path, { accept });
      if (status !== 200) throw answerError(status, text);
      return text;
    };
    const list = JSON.parse(await get(TEMPLATES, 'application/json')) as { template_id: string }[];
    for (const { template_id } of list)
      take(await get(`${TEMPLATES}/${encodeURIComponent(template_id)}`, 'application/xml'));
  });
}
