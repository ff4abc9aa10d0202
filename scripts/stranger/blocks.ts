/** A code block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** What stands after `=>`: each is part of what the block prints. */
  readonly expected: readonly string[];
}

/** The code blocks of a page of Markdown, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
    expected: [...text.matchAll(/^(?:#|\/\/) => (.*)$/gm)].map(([, line = '']) => line),
  }));
}
