import { StreamLanguage } from '@codemirror/language';
import { isAqlWord } from '@everchart/aql';
import { codeColours, TOKENS } from '../../../widgets/code-colours.js';

/** Colours words of AQL; it knows no grammar. docs/spec/aql.md#lexical-rules */
const language = StreamLanguage.define<{ isAfterSlash: boolean }>({
  name: 'aql',
  startState: () => ({ isAfterSlash: false }),
  token(stream, state) {
    const wasAfterSlash = state.isAfterSlash;
    state.isAfterSlash = false;
    if (stream.eatSpace()) return null;
    if (stream.match(/^--(?:\s.*)?$/)) return 'comment';
    if (stream.match(/^'(?:[^'\\]|\\.)*'?/) || stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^\$\w+/)) return 'parameter';
    if (stream.match(/^(?:at|id)\d[\d.]*\b/)) return 'code';
    if (stream.match(/^[\w-]+-[A-Za-z0-9]+-[A-Z_]+\.[\w-]+\.v[\d.]+\w*/)) return 'code';
    if (stream.match(/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/i)) return 'number';
    const word = stream.match(/^[A-Za-z]\w*/);
    if (Array.isArray(word)) return wasAfterSlash ? null : wordStyle(word[0]);
    state.isAfterSlash = stream.next() === '/';
    return null;
  },
  tokenTable: TOKENS,
});

/** Keywords in any case; classes of the reference model are written in capitals. */
function wordStyle(word: string): string | null {
  if (isAqlWord(word)) return 'keyword';
  return /^[A-Z][A-Z_]+$/.test(word) ? 'class' : null;
}

/** AQL in an editor; the colours stand in the theme. */
export const aqlHighlighting = [language, codeColours];
