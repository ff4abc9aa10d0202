import { PRESENCE_MATTERS, SETTINGS } from '../../src/settings/setting-list.js';

/** The text of `.env.example`: every setting with its default and meaning. A test keeps the file equal. */
export function envExample(): string {
  const head =
    '# Every setting of everchart with its default; empty = unset. A copy named .env is read by every command.\n';
  const lines = SETTINGS.map(({ name, defaultText, meaning }) => {
    const shown = PRESENCE_MATTERS.has(name) ? '' : defaultText;
    return `\n# ${meaning}\n${name}=${shown}\n`;
  });
  return head + lines.join('');
}
