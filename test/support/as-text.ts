import type request from 'supertest';

/** Reads an answer of another type as text. */
export function asText(answer: request.Response, done: (error: Error | null, text: string) => void): void {
  let whole = '';
  answer.on('data', (part: Buffer) => (whole += part.toString()));
  answer.on('end', () => {
    done(null, whole);
  });
}
