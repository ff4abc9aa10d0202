import { SETTINGS } from './setting-list.js';

/** The text of `docs/configuration.md`: every setting as a table. A test keeps the file equal. */
export function configurationPage(): string {
  const rows = SETTINGS.map(
    ({ name, defaultText, meaning }) =>
      `| \`${name}\` | ${defaultText === '' ? '–' : `\`${defaultText}\``} | ${meaning} |`,
  );
  return `# Configuration

Every setting is one environment variable, checked at start; all malformed ones are reported at once and the server does
not start. An empty variable counts as absent. This page is generated from the list in \`src/setting-list.ts\`.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}
