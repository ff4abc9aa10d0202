import { readdirSync, readFileSync } from 'node:fs';
import { keptBody, type KeptBody } from '../http/answer/kept-body.js';

/** The console as Vite built it. */
export interface ConsoleFiles {
  /** index.html, whose nonces are `NONCE_PLACEHOLDER` and whose addresses begin with `./`. */
  readonly page: string;
  /** Content by file name; each name holds a hash of its content. */
  readonly assets: ReadonlyMap<string, KeptBody>;
}

/** What `console/vite.config.ts` writes where the nonce of an answer has to stand. */
export const NONCE_PLACEHOLDER = 'EVERCHART_CSP_NONCE';

/** How the file ends that Vite puts beside one of the first page: the same, compressed. */
const BROTLI = '.br';

/** Reads the built console, once; null: there is none (docs/decisions/0035-console.md). */
export function readConsoleFiles(): ConsoleFiles | null {
  const at = (path: string): URL => new URL(`../../console/dist/${path}`, import.meta.url);
  try {
    const page = readFileSync(at('index.html'), 'utf8');
    const names = readdirSync(at('assets'));
    const read = (name: string): Buffer => readFileSync(at(`assets/${name}`));
    const kept = (name: string): KeptBody =>
      keptBody(read(name), names.includes(`${name}${BROTLI}`) ? read(`${name}${BROTLI}`) : undefined);
    const assets = names.filter((name) => !name.endsWith(BROTLI)).map((name) => [name, kept(name)] as const);
    return { page, assets: new Map(assets) };
  } catch {
    return null;
  }
}
