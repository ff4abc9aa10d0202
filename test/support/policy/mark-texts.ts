import { readFileSync } from 'node:fs';
import { MARK_KINDS, type MarkKind } from '../../../policy/marks.js';

/** What marks mean, in Cedar, as the documentation says it. */
export function markTexts(): Readonly<Record<MarkKind, string>> {
  const page = readFileSync(new URL('../../../docs/access.md', import.meta.url), 'utf8');
  const [, section = ''] = /\n### What marks mean\n([^]*?)\n### /.exec(page) ?? [];
  const [, block = ''] = /```cedar\n([^]*?)```/.exec(section) ?? [];
  const texts = block.split('\n\n');
  const textOf = (kind: MarkKind): string => texts.find((each) => each.includes(`"${kind}"`)) ?? '';
  return Object.fromEntries(MARK_KINDS.map((kind) => [kind, textOf(kind)])) as Record<MarkKind, string>;
}

/** Of texts of policies by id those that hold in an emergency, or outside of one. */
export function inForce(
  texts: Readonly<Record<string, string>>,
  isEmergency: boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).filter(([, text]) =>
      isEmergency ? !text.includes('@emergency("may pass")') : !text.includes('@emergency("only")'),
    ),
  );
}
