import type { Mark, SetMark } from '@everchart/client';
import { isObject, items } from '../../api/json.js';

/** The whole of the record, a part of its documents, or one of them. */
export type MarkScope = 'whole' | 'part' | 'document';

/** What is typed of a mark before it is one. */
export interface MarkTexts {
  readonly kind: Mark['kind'];
  readonly ground: string;
  readonly scope: MarkScope;
  readonly objectUid: string;
  readonly template: string;
  readonly category: string;
  readonly origin: string;
  readonly from: string;
  readonly to: string;
  readonly organisation: string;
}

/** Nothing is typed yet. */
export function unmarked(kind: Mark['kind']): MarkTexts {
  return {
    kind,
    ground: '',
    scope: 'whole',
    objectUid: '',
    template: '',
    category: '',
    origin: '',
    from: '',
    to: '',
    organisation: '',
  };
}

/** What is wrong with what is typed; null: nothing. */
export function wrongIn(texts: MarkTexts): 'ground' | 'document' | 'part' | 'order' | null {
  const { scope, objectUid, template, category, origin, from, to } = texts;
  if (scope === 'document' && objectUid.trim() === '') return 'document';
  if (scope === 'part' && [template, category, origin, from, to].every((text) => text.trim() === ''))
    return 'part';
  if (scope === 'part' && from !== '' && to !== '' && from > to) return 'order';
  return texts.ground.trim() === '' ? 'ground' : null;
}

/** The mark that is typed: of what does not belong to its scope nothing. */
export function markOf(texts: MarkTexts): Mark {
  const { kind, scope, ground, objectUid, template, category, origin, from, to, organisation } = texts;
  const isOfProcessing = kind === 'restriction_of_processing';
  const about = {
    ...(scope === 'document' && { object_uid: objectUid }),
    ...(scope === 'part' && !isOfProcessing && { template_id: template, category, origin, from, to }),
    ...(!isOfProcessing && { organisation }),
  };
  const said = Object.entries(about)
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  return { kind, ground: ground.trim(), ...Object.fromEntries(said) };
}

/** Members that say what a mark is about, in the order in which they are read. */
const ABOUT = ['object_uid', 'template_id', 'category', 'origin', 'from', 'to', 'organisation'] as const;

/** What a mark is about, by its members; nothing: the whole of the record, whoever asks. */
export function aboutOf(mark: Mark): { readonly name: (typeof ABOUT)[number]; readonly value: string }[] {
  return ABOUT.flatMap((name) => {
    const value = mark[name];
    return value === undefined ? [] : [{ name, value }];
  });
}

/** Marks that hold now, and those that were lifted, newest first. */
export function parted(marks: readonly SetMark[]): {
  readonly holding: readonly SetMark[];
  readonly lifted: readonly SetMark[];
} {
  const newest = [...marks].reverse();
  return {
    holding: newest.filter(({ lifted }) => lifted === undefined),
    lifted: newest.filter(({ lifted }) => lifted !== undefined),
  };
}

/** The marks that a refusal names to whoever may know. */
export function marksIn(body: unknown): readonly SetMark[] {
  return isObject(body) ? (items(body['marks']) as unknown as readonly SetMark[]) : [];
}
