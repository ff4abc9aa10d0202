import { cutError } from './error.js';

/** The lines of an answer as they come, without empty ones. Leaving the loop ends the answer. */
export async function* linesOf(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let begun: string[] = [];
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw cutError(response, signal, cause);
      });
      const pieces = decoder.decode(value, { stream: !done }).split('\n');
      // A long line comes in many pieces: they are joined once, when its end is there.
      for (const piece of pieces.slice(0, -1)) {
        signal?.throwIfAborted();
        const line = begun.length === 0 ? piece : [...begun, piece].join('');
        begun = [];
        if (line.trim() !== '') yield line;
      }
      begun.push(pieces.at(-1) ?? '');
      if (done) break;
    }
    const last = begun.join('');
    if (last.trim() !== '') yield last;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
