import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, Prec, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import type { Edit } from '@everchart/aql';
import { styleNonce } from '../../../csp.js';
import { aqlAssistance, inputChanged, type AssistanceInput } from './aql-assistance.js';
import { aqlHighlighting } from './aql-language.js';

/** Props of the editor. */
interface EditorProps extends AssistanceInput {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly onFormat: () => void;
  /** A text to go on with, and where; each object once. */
  readonly edit: Edit | null;
  /** What it is for, to those who do not see it. */
  readonly label: string;
}

/** Writes AQL, with completion and mistakes underlined; Ctrl-Enter runs it, Shift-Alt-F lays it out. */
export function AqlEditor(props: EditorProps): ReactNode {
  const { text, label, mistake, templates, edit } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const input = useRef(props);
  input.current = props;

  useEffect(() => {
    if (place.current === null) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({ extensions: extensions(() => input.current, label) }),
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
    if (editor === null || edit === null) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: edit.text },
      selection: { anchor: edit.cursor },
      scrollIntoView: true,
    });
    editor.focus();
  }, [edit]);

  const isWhole = templates !== null && templates.known >= templates.all;
  useEffect(() => {
    // What is known of the text has changed, though the text has not.
    view.current?.dispatch({ effects: inputChanged.of(null) });
  }, [mistake, isWhole]);

  return <div ref={place} className="editor" />;
}

function extensions(input: () => EditorProps, label: string): Extension {
  const act = (what: (props: EditorProps) => void) => (): boolean => (what(input()), true);
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.lineWrapping,
    lineNumbers(),
    lintGutter(),
    history(),
    bracketMatching(),
    closeBrackets(),
    aqlHighlighting,
    aqlAssistance(input),
    Prec.highest(
      keymap.of([
        { key: 'Mod-Enter', run: act(({ onRun }) => onRun()) },
        { key: 'Shift-Alt-f', run: act(({ onFormat }) => onFormat()) },
      ]),
    ),
    keymap.of([
      ...completionKeymap,
      ...closeBracketsKeymap,
      ...lintKeymap,
      ...defaultKeymap,
      ...historyKeymap,
    ]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) input().onChange(state.doc.toString());
    }),
  ];
}
