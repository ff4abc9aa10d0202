import { autocompletion } from '@codemirror/autocomplete';
import { StreamLanguage } from '@codemirror/language';
import { linter, type Diagnostic } from '@codemirror/lint';
import { Prec, type EditorState } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { useRef, useState, type ReactNode } from 'react';
import type { PolicyFinding } from '../../../api/access.js';
import { CodeEditor, knownChanged, offsetOf, wordEnd } from '../../../widgets/CodeEditor.js';
import { codeColours, TOKENS } from '../../../widgets/code-colours.js';
import { cedarCompletions } from './cedar-completions.js';
import { cedarToken } from './cedar-tokens.js';

/** Cedar in colours. */
export const cedarHighlighting = [
  StreamLanguage.define({
    name: 'cedar',
    token(stream) {
      const { end, kind } = cedarToken(stream.string, stream.pos);
      stream.pos = end;
      return kind;
    },
    tokenTable: TOKENS,
  }),
  codeColours,
];

interface EditorProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly label: string;
  readonly edit: { readonly text: string; readonly cursor: number } | null;
  /** What the server says of a text. */
  readonly checked: { readonly text: string; readonly findings: readonly PolicyFinding[] } | null;
}

/** Writes a policy, with completion and mistakes underlined as they are typed; Ctrl-Enter saves it. */
export function CedarEditor(props: EditorProps): ReactNode {
  const { text, onChange, label, edit, checked } = props;
  const input = useRef(props);
  input.current = props;
  const [extensions] = useState(() => [
    cedarHighlighting,
    autocompletion({
      icons: false,
      override: [
        ({ state, pos, explicit }) => {
          const found = cedarCompletions(state.sliceDoc(0, pos));
          return found === null ||
            (found.from === pos && !explicit && !/[."\s]/.test(state.sliceDoc(pos - 1, pos)))
            ? null
            : { from: found.from, options: [...found.options], validFor: /^\w*$/ };
        },
      ],
    }),
    linter(({ state }) => diagnosticsOf(state, input.current), {
      delay: 0,
      needsRefresh: ({ transactions }) =>
        transactions.some(({ effects }) => effects.some((effect) => effect.is(knownChanged))),
    }),
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => (input.current.onSave(), true) }])),
  ]);
  return <CodeEditor {...{ text, onChange, label, edit, extensions, known: checked }} />;
}

/** What was said of another text is not said of this one. */
function diagnosticsOf(state: EditorState, { checked }: EditorProps): Diagnostic[] {
  if (checked === null || checked.text !== state.doc.toString()) return [];
  return checked.findings.map(({ kind, message, line = 1, column = 1 }) => {
    const from = offsetOf(state, line, column);
    return { from, to: wordEnd(state, from), severity: kind === 'advice' ? 'warning' : 'error', message };
  });
}
