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

/** Reads the built console, once; null: there is none (docs/decisions/0035-console.md). */
export function readConsoleFiles(): ConsoleFiles | null {
  const at = (path: string): URL => new URL(`../../console/dist/${path}`, import.meta.url);
  try {
    const page = readFileSync(at('index.html'), 'utf8');
    const names = readdirSync(at('assets'));
    return {
      page,
      assets: new Map(names.map((name) => [name, keptBody(readFileSync(at(`assets/${name}`)))])),
    };
  } catch {
    return null;
  }
}
