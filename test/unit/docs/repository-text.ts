import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);
const NOT_OURS = /^(?:node_modules|dist|data|coverage|test\/fixtures|\.git)(?:\/|$)/;
const TEXT = /\.(?:ts|mjs|cjs|md|ya?ml)$|^\.ci\/run$|^\.env\.example$/;

/** A text file of the repository. */
export interface RepositoryText {
  /** From the root. */
  readonly path: string;
  readonly text: string;
}

/** All sources and documents of the repository, fixtures and generated files apart. */
export function repositoryTexts(): RepositoryText[] {
  return pathsBelow('').map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }));
}

/** Text of a file by its path from the root. */
export function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function pathsBelow(folder: string): string[] {
  return readdirSync(new URL(folder, ROOT), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (NOT_OURS.test(path) || entry.name === 'node_modules') return [];
    if (entry.isDirectory()) return pathsBelow(`${path}/`);
    return TEXT.test(path) ? [path] : [];
  });
}

/** The anchors of a Markdown page, as GitHub makes them of its headings. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const outsideCode = markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
  for (const [, heading = ''] of outsideCode.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${slug}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}
