import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** Kinds of tokens of our languages, beside those that the library knows. */
export const TOKENS = {
  parameter: tags.special(tags.variableName),
  code: tags.literal,
  class: tags.className,
};

/** The colours of all languages, which stand in the theme. */
export const codeColours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, class: 'cm-keyword' },
    { tag: tags.className, class: 'cm-class' },
    { tag: tags.string, class: 'cm-string' },
    { tag: tags.number, class: 'cm-number' },
    { tag: tags.comment, class: 'cm-comment' },
    { tag: tags.special(tags.variableName), class: 'cm-param' },
    { tag: tags.literal, class: 'cm-code' },
  ]),
);
