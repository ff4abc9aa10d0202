import type { WebTemplateNode } from '@everchart/client';
import { useState, type ReactNode } from 'react';
import { isComplete, isThere, layoutOf } from '../../form/form-layout.js';
import { pathBelow } from '../../form/form-tree.js';
import { OPENEHR_TERMS, termText } from '../../form/openehr-terms.js';
import type { FlatValues } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { instantText } from '../../record/values/instant.js';
import { useForm, useFormValue } from './form-state.js';
import { useLabels } from './labels.js';

/** Names that stand in the title of what is folded. */
const MOST_NAMES = 4;

/**
 * A part of a form that is made when it is unfolded. It unfolds by itself when something in it is filled, or when a finding is about
 * it; `places`: of what it holds.
 */
export function Fold({
  places,
  isOpenAtFirst,
  title,
  description,
  children,
}: {
  readonly places: readonly string[];
  readonly isOpenAtFirst: boolean;
  readonly title: ReactNode;
  readonly description?: string | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const { findings } = useForm();
  const [chosen, setChosen] = useState<boolean | null>(null);
  // What was open stays so: nothing is folded under who empties a field to fill it anew.
  const [wasOpen, setWasOpen] = useState(isOpenAtFirst);
  if (isOpenAtFirst && !wasOpen) setWasOpen(true);
  const isFound = [...findings.keys()].some((found) => places.some((place) => isBelow(found, place)));
  const isOpen = isFound || (chosen ?? (wasOpen || isOpenAtFirst));
  return (
    <details open={isOpen} className="form-group" data-place={places[0]}>
      <summary
        title={description}
        onClick={(event) => {
          event.preventDefault();
          setChosen(!isOpen);
        }}
      >
        {title}
      </summary>
      {isOpen && children}
    </details>
  );
}

/** How what is above was found, folded until it is wanted. */
export function Further({
  nodes,
  path,
  children,
}: {
  readonly nodes: readonly WebTemplateNode[];
  readonly path: string;
  readonly children: ReactNode;
}): ReactNode {
  const { t } = useMessages();
  const { labelOf } = useLabels();
  const places = nodes.map((node) => pathBelow(path, node));
  const isFilled = useFormValue(path, (values) => places.some((place) => isThere(values, place)));
  const names = nodes.map(labelOf);
  const more = names.length > MOST_NAMES ? ', …' : '';
  return (
    <Fold
      places={places}
      isOpenAtFirst={isFilled}
      title={t('form.further', { names: names.slice(0, MOST_NAMES).join(', ') + more })}
    >
      <div className="form-fields">{children}</div>
    </Fold>
  );
}

/** When, where and by whom a document is written, in a line as long as nothing of it is missing or particular. */
export function Around({
  node,
  path,
  children,
}: {
  readonly node: WebTemplateNode;
  readonly path: string;
  readonly children: ReactNode;
}): ReactNode {
  const reader = useMessages();
  const { aside } = layoutOf(node);
  const isOpenAtFirst = useFormValue(path, (values) => isParticular(values, path, aside));
  const line = useFormValue(path, (values) =>
    [
      instantText(String(values[`${path}/context/start_time`] ?? ''), reader).text,
      settingText(values[`${path}/context/setting|code`], reader.language),
      String(values[`${path}/composer|name`] ?? ''),
    ]
      .filter((part) => part !== '')
      .join(' · '),
  );
  if (aside.length === 0) return null;
  return (
    <Fold
      places={aside.map((child) => pathBelow(path, child))}
      isOpenAtFirst={isOpenAtFirst}
      title={
        <>
          {reader.t('form.around')} <span className="unit">{line}</span>
        </>
      }
    >
      <div className="form-fields">{children}</div>
    </Fold>
  );
}

/** Whether something that is required is missing around a document, or something is said there that not every document says. */
function isParticular(values: FlatValues, path: string, around: readonly WebTemplateNode[]): boolean {
  return around.some((child) => {
    const place = pathBelow(path, child);
    const own = (child.children ?? []).filter(({ aqlPath = '' }) => aqlPath.includes('/other_context'));
    return !isComplete(values, place, child) || own.some((each) => isThere(values, pathBelow(place, each)));
  });
}

function settingText(code: FlatValues[string] | undefined, language: string): string {
  const rubric = OPENEHR_TERMS['setting']?.[String(code)];
  return rubric === undefined ? '' : termText(String(code), rubric, language);
}

function isBelow(found: string, place: string): boolean {
  return found.startsWith(place) && /^[/:|]?$/.test(found.charAt(place.length));
}
