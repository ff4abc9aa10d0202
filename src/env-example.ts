import { SETTINGS } from './setting-list.js';

/** The text of `.env.example`: every setting with its default and meaning. A test keeps the file equal. */
export function envExample(): string {
  const head = '# Every setting of everchart with its default. Use with: node --env-file=.env …\n';
  const lines = SETTINGS.map(({ name, defaultText, meaning }) => `\n# ${meaning}\n${name}=${defaultText}\n`);
  return head + lines.join('');
}
