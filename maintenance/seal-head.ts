import { CdrError } from '../openehr/base/errors.js';
import type { SealHead } from '../models/cross-collection/seal-block.js';

const HEAD = /^(?<block>\d{1,15}):(?<hash>[0-9a-f]{64})$/i;

/** A head of the seals as text: `<block>:<hash>`. */
export function formatSealHead({ block, hash }: SealHead): string {
  return `${block}:${hash}`;
}

/**
 * A head of the seals that was kept: `<block>:<hash>`, or the JSON of GET `/rest/admin/seal`.
 * @throws CdrError invalid when it is neither
 */
export function parseSealHead(text: string): SealHead {
  const { block, hash } = HEAD.exec(asText(text.trim()))?.groups ?? {};
  if (block === undefined || hash === undefined)
    throw new CdrError('invalid', 'a head of the seals is <block>:<64 hexadecimal digits>, or its JSON');
  return { block: Number(block), hash: hash.toLowerCase() };
}

function asText(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const { block, hash } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return `${String(block)}:${String(hash)}`;
  } catch {
    return text;
  }
}
