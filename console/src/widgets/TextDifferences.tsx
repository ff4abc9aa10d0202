import './text-differences.css';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { styleNonce } from '../csp.js';

/** What differs between two texts of a language, whose colours are `language`. */
export function TextDifferences({
  before,
  after,
  label,
  language,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
  readonly language: Extension;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.editable.of(false),
          EditorState.readOnly.of(true),
          EditorView.lineWrapping,
          language,
          unifiedMergeView({ original: before, mergeControls: false, gutter: true }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, label, language]);
  return <div ref={place} className="editor" />;
}
