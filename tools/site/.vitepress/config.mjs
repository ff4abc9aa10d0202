import { readFileSync } from 'node:fs';

/** Headings have the anchors that they have where the repository is read. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

export default {
  title: 'everchart',
  description: 'An openEHR clinical data repository on MongoDB',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  // Nothing is asked of a server but the pages.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  lastUpdated: false,
  // Text such as <ehr_id> is no element.
  markdown: { html: false, anchor: { slugify } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: JSON.parse(readFileSync(new URL('../sidebar.json', import.meta.url), 'utf8')),
    outline: [2, 3],
  },
};
