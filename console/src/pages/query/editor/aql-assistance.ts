import {
  autocompletion,
  type Completion as CodeMirrorCompletion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { linter, type Diagnostic } from '@codemirror/lint';
import type { EditorState, Extension } from '@codemirror/state';
import { hoverTooltip, type EditorView } from '@codemirror/view';
import { CdrError, completions, diagnose, formatAql, hoverAt, type Completion } from '@everchart/aql';
import { knownChanged, offsetOf, wordEnd } from '../../../widgets/CodeEditor.js';
import type { KnownTemplates } from './known-templates.js';
import type { Mistake } from '../parameters.js';

/** What the assistance needs from outside, asked each time that it is needed. */
export interface AssistanceInput {
  readonly templates: KnownTemplates | null;
  /** What the server said of a text that it was sent. */
  readonly mistake: (Mistake & { readonly text: string }) | null;
}

/** Milliseconds without a key before the text is checked. */
const CHECK_AFTER = 250;

/** Completion, mistakes underlined as they are typed, and what words mean: the server's words, made in the browser. */
export function aqlAssistance(input: () => AssistanceInput): Extension {
  return [
    autocompletion({ override: [(context) => completionsAt(context, input())], icons: false }),
    linter((view) => diagnosticsOf(view.state, input()), {
      delay: CHECK_AFTER,
      needsRefresh: ({ transactions }) =>
        transactions.some(({ effects }) => effects.some((effect) => effect.is(knownChanged))),
    }),
    hoverTooltip((view, offset) => hoverBox(view, offset, input())),
  ];
}

/** Where something new begins: a word, a path, a predicate, a value, or what a word of the language asks for. */
const BEGINS = /[\w.:'/[-]$|\b(?:SELECT|DISTINCT|FROM|CONTAINS|WHERE|AND|OR|NOT|BY)\s$|,\s$/i;

/** Completion begins without being asked. */
function completionsAt(context: CompletionContext, { templates }: AssistanceInput): CompletionResult | null {
  if (!context.explicit && context.matchBefore(BEGINS) === null) return null;
  const found = completions(context.state.doc.toString(), context.pos, templates?.catalogue ?? null);
  const [first] = found;
  if (first === undefined) return null;
  return {
    from: first.from,
    options: found.map(optionOf),
    validFor: /^'?[\w.:-]*$/,
  };
}

/** Points by which a shorter path does not come before what of a node is asked for most, which stands first. */
const IN_ORDER = 30;

/** A value of a template is shown by its term, and found by term, path and class alike. */
function optionOf(
  { label, kind, term, detail, documentation, insert }: Completion,
  index: number,
  all: readonly Completion[],
): CodeMirrorCompletion {
  const option = { label, apply: insert, detail, type: TYPES[kind] };
  if (term === '') return documentation === '' ? option : { ...option, info: documentation };
  return {
    ...option,
    label: [term, label, detail].join(' '),
    displayLabel: `${term} · ${leafOf(label)}`,
    boost: all[index - 1]?.term === term ? -IN_ORDER : 0,
    info: [label, documentation].filter((text) => text !== '').join('\n'),
  };
}

/** What is behind the last node of a path. */
function leafOf(path: string): string {
  const [, leaf = path] = /(?:\]|\/value)\/([^\]]+)$/.exec(path) ?? [];
  return leaf.replace(/^value\/(?=.)/, '');
}

const TYPES: Readonly<Record<Completion['kind'], string>> = {
  keyword: 'keyword',
  class: 'class',
  variable: 'variable',
  attribute: 'property',
  path: 'property',
  archetype: 'type',
  code: 'enum',
  function: 'function',
  value: 'constant',
};

/**
 * What is wrong with the text. Names of templates are checked when all are known: one that was not read yet is no mistake.
 * What the server alone can find stays until the text is changed.
 */
function diagnosticsOf(state: EditorState, { templates, mistake }: AssistanceInput): Diagnostic[] {
  const text = state.doc.toString();
  if (text.trim() === '') return [];
  const isWhole = templates !== null && templates.known >= templates.all;
  const own = diagnose(text, isWhole ? templates.catalogue : null).map((found) => ({
    from: offsetOf(state, found.line, found.column),
    to: offsetOf(state, found.endLine, found.endColumn),
    severity: found.severity,
    message: found.message,
  }));
  if (mistake === null || mistake.text !== text || own.some(({ severity }) => severity === 'error'))
    return own;
  const from = offsetOf(state, mistake.line, mistake.column);
  return [...own, { from, to: wordEnd(state, from), severity: 'error', message: mistake.message }];
}

function hoverBox(view: EditorView, offset: number, { templates }: AssistanceInput) {
  const found = hoverAt(view.state.doc.toString(), offset, templates?.catalogue ?? null);
  if (found === null) return null;
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => ({ dom: meaningBox(found.text) }),
  };
}

/** Words of templates become text, never markup: of Markdown only the `**title**` and `` `id` `` of the first line. */
function meaningBox(markdown: string): HTMLElement {
  const box = document.createElement('div');
  box.className = 'meaning';
  const [head = '', ...rest] = markdown.split('\n\n');
  const [, title = head, detail = ''] = /^\*\*([\s\S]*?)\*\*(?: `([^`]*)`)?$/.exec(head) ?? [];
  for (const [tag, text] of [
    ['strong', title],
    ['code', detail],
    ['p', rest.join('\n')],
  ] as const) {
    if (text === '') continue;
    const element = document.createElement(tag);
    element.textContent = text;
    box.append(element, ' ');
  }
  return box;
}

/** The text laid out, or in the server's words why it cannot be. */
export function formatted(
  text: string,
): { readonly text: string } | { readonly text: null; readonly why: string } {
  try {
    return { text: formatAql(text) };
  } catch (error) {
    if (error instanceof CdrError) return { text: null, why: error.message };
    throw error;
  }
}
