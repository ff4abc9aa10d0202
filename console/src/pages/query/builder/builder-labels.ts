import { isAqlWord } from '@everchart/aql';
import type { BuilderField } from './builder-fields.js';
import type { Column } from './query-parts.js';

/** What a path is called; a path that no template names is itself. */
export function labelOf(text: string, fields: readonly BuilderField[]): string {
  return fields.find(({ value }) => value === text)?.label ?? text;
}

/** A name made of a term that no other column has and that AQL takes: `systolic`, `systolic_2`, `length_2`. */
export function freshAlias(label: string, columns: readonly Column[]): string {
  const [term = ''] = label.split(' · ');
  const bare = term
    .normalize('NFD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[^a-z]+|_+$/g, '');
  const name = bare === '' ? 'value' : bare;
  const taken = new Set(columns.map(({ alias }) => alias.toLowerCase()));
  let free = name;
  for (let number = 2; taken.has(free) || isAqlWord(free); number += 1) free = `${name}_${number}`;
  return free;
}
