import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { styleNonce } from '../../csp.js';
import { aqlHighlighting } from './aql-language.js';

/** A place in the text, counted from 1, and what is wrong there. */
export interface Mistake {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Writes AQL; Ctrl-Enter runs it. `label`: what it is for, to those who do not see it. */
export function AqlEditor({
  text,
  onChange,
  onRun,
  mistake,
  label,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly mistake: Mistake | null;
  readonly label: string;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const told = useRef({ onChange, onRun });
  told.current = { onChange, onRun };

  useEffect(() => {
    if (place.current === null) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.lineWrapping,
          lineNumbers(),
          lintGutter(),
          history(),
          bracketMatching(),
          aqlHighlighting,
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => (told.current.onRun(), true) }])),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) told.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    const known = editor?.state.doc.toString();
    if (editor !== null && known !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text, label]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    editor.dispatch(
      setDiagnostics(editor.state, mistake === null ? [] : [diagnosticOf(editor.state, mistake)]),
    );
  }, [mistake]);

  return <div ref={place} className="editor" />;
}

function diagnosticOf(state: EditorState, { line, column, message }: Mistake) {
  const place = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  const from = Math.min(place.to, place.from + Math.max(0, column - 1));
  const word = state.wordAt(from);
  return { from, to: word?.to ?? Math.min(place.to, from + 1), severity: 'error' as const, message };
}
