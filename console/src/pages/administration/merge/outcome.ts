import type { MessageKey } from '../../../messages/en.js';

/** What a merge or its undoing did, as far as the words of the summary are known. */
export interface OutcomeParts {
  /** Not written: a dry run, or a merge that waits for approval. */
  readonly isPlan: boolean;
  /** How many of what; what is none is left out. */
  readonly counted: readonly { readonly key: MessageKey; readonly count: number }[];
  /** What is said about single compositions and folders, as the server says it. */
  readonly rest: string;
}

const COUNTED: Readonly<Record<string, MessageKey>> = {
  'compositions moved': 'outcome.moved',
  joined: 'outcome.joined',
  'folder copied': 'outcome.folderCopied',
  'contributions moved': 'outcome.contributions',
  'item tags moved': 'outcome.tags',
  'item tags deleted': 'outcome.tagsDeleted',
  'compositions moved back': 'outcome.movedBack',
  separated: 'outcome.separated',
  'folder removed': 'outcome.folderRemoved',
  'contributions moved back': 'outcome.contributionsBack',
  'item tags moved back': 'outcome.tagsBack',
  'item tags restored': 'outcome.tagsRestored',
};

/** Reads `outcome.summary`: counts come first, then single things. docs/spec/merge.md#details */
export function outcomeParts(summary: string): OutcomeParts {
  const [, prefix = '', text = ''] = /^(DRY RUN: |PENDING: )?([\s\S]*)$/.exec(summary) ?? [];
  const parts = text.split(', ');
  const known = parts.map(countedPart);
  const end = known.indexOf(null);
  const counted = (end < 0 ? known : known.slice(0, end)).flatMap((part) => part ?? []);
  return {
    isPlan: prefix !== '',
    counted: counted.filter(({ count }) => count > 0),
    rest: end < 0 ? '' : parts.slice(end).join(', '),
  };
}

function countedPart(part: string): { readonly key: MessageKey; readonly count: number } | null {
  const [, count = '', what = ''] = /^(\d+) (.+)$/s.exec(part) ?? [];
  const key = Object.hasOwn(COUNTED, what) ? COUNTED[what] : undefined;
  return key === undefined ? null : { key, count: Number(count) };
}
