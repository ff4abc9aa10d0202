/* Apart from tables: the word that prints a version loads no library for them. */

/** What a terminal would obey: control characters, and what turns the direction. */
const OBEYED = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text without what a terminal would obey: each as its escape. */
export function shown(text: string): string {
  return text.replace(OBEYED, (letter) => {
    const code = letter.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}

/**
 * A text of a server as it is written to a stream: a terminal gets nothing that it would obey but line ends and tabs, a file or
 * another program gets it as it is.
 */
export function forStream(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  if (isTTY !== true) return text;
  return text.replace(/[^\r\n\t]+/g, shown).replace(/\r(?!\n)/g, '\\x0d');
}

/** Writes a text of a server to a stream, as `forStream` gives it; false: the stream is full. */
export function writeShown(stream: NodeJS.WriteStream, text: string): boolean {
  return stream.write(forStream(text, stream));
}
