import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, StateEffect, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { styleNonce } from '../csp.js';

/** A text to go on with, and where the cursor stands in it. */
interface Edit {
  readonly text: string;
  readonly cursor: number;
}

/** Says that what is known of the text has changed: a text that did not change is checked again. */
export const knownChanged = StateEffect.define();

/** An editor of a language: its colours, assistance and keys are `extensions`, of which those of the first drawing stay. */
export function CodeEditor({
  text,
  onChange,
  label,
  edit,
  extensions,
  known,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** What it is for, to those who do not see it. */
  readonly label: string;
  /** Each object once. */
  readonly edit: Edit | null;
  readonly extensions: Extension;
  /** Another one: what is known of the text has changed. */
  readonly known: unknown;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const own = useRef(extensions);

  useEffect(() => {
    if (place.current === null) return;
    const told = EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) change.current(state.doc.toString());
    });
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({ extensions: [usual(label), own.current, told] }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    const shown = editor?.state.doc.toString();
    if (editor !== null && shown !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text, label]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || edit === null) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: edit.text },
      selection: { anchor: edit.cursor },
      scrollIntoView: true,
    });
    editor.focus();
  }, [edit]);

  useEffect(() => {
    view.current?.dispatch({ effects: knownChanged.of(null) });
  }, [known]);

  return <div ref={place} className="editor" />;
}

/** What every editor has. */
function usual(label: string): Extension {
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.lineWrapping,
    lineNumbers(),
    lintGutter(),
    history(),
    bracketMatching(),
    closeBrackets(),
    keymap.of([
      ...completionKeymap,
      ...closeBracketsKeymap,
      ...lintKeymap,
      ...defaultKeymap,
      ...historyKeymap,
    ]),
  ];
}

/** The offset of a place that is counted from 1; what lies behind the end of a line is its end. */
export function offsetOf({ doc }: EditorState, line: number, column: number): number {
  const place = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(place.to, place.from + Math.max(0, column - 1));
}

/** Where the word that begins at an offset ends; of what is no word its first character. */
export function wordEnd(state: EditorState, from: number): number {
  return state.wordAt(from)?.to ?? Math.min(state.doc.length, from + 1);
}
