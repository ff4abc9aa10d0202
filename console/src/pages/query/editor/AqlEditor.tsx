import { Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { Edit } from '@everchart/aql';
import { CodeEditor } from '../../../widgets/CodeEditor.js';
import { aqlAssistance, type AssistanceInput } from './aql-assistance.js';
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
  const { text, onChange, label, mistake, templates, edit } = props;
  const input = useRef(props);
  input.current = props;
  const act = (what: (props: EditorProps) => void) => (): boolean => (what(input.current), true);
  const [extensions] = useState(() => [
    aqlHighlighting,
    aqlAssistance(() => input.current),
    Prec.highest(
      keymap.of([
        { key: 'Mod-Enter', run: act(({ onRun }) => onRun()) },
        { key: 'Shift-Alt-f', run: act(({ onFormat }) => onFormat()) },
      ]),
    ),
  ]);
  const isWhole = templates !== null && templates.known >= templates.all;
  const known = useMemo(() => ({ mistake, isWhole }), [mistake, isWhole]);
  return <CodeEditor {...{ text, onChange, label, edit, extensions, known }} />;
}
