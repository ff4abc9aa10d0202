import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a browser fetches when it opens a page, of another machine; links are for people to follow. */
const ELSEWHERE = [
  /<(?:script|link|img|iframe|source)\b[^>]*\s(?:src|href)="(?:https?:)?\/\/[^"]*"/g,
  /\burl\(\s*['"]?(?:https?:)?\/\/[^)]*\)/g,
  /@import\s+['"](?:https?:)?\/\/[^'"]*['"]/g,
];
/** Where the words of all pages stand for the search. */
const SEARCH_INDEX = /localSearchIndex/;

/** Why a site that was built cannot be read and searched without a network; nothing where it can. */
export function needsNetwork(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => /\.(?:html|css)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return ELSEWHERE.flatMap((pattern) => text.match(pattern) ?? []).map((asked) => `${file}: ${asked}`);
    });
  return files.some((file) => SEARCH_INDEX.test(file)) ? found : [...found, 'it has no words to search'];
}
