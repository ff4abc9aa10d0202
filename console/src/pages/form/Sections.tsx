import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { layoutOf } from '../../form/form-layout.js';
import { kindOf, pathBelow } from '../../form/form-tree.js';
import { useMessages } from '../../messages/messages.js';
import { useForm } from './form-state.js';
import { useLabels } from './labels.js';

/** Of fewer parts one sees where one is. */
const LEAST = 3;

/** The parts of a long document, to go to. */
export function Sections(): ReactNode {
  const { t } = useMessages();
  const { template } = useForm();
  const { labelOf } = useLabels();
  const { tree } = template;
  const parts = layoutOf(tree).first.filter((node) => kindOf(node) === 'group');
  if (parts.length < LEAST) return null;
  return (
    <nav className="form-sections" aria-label={t('form.sections')}>
      {parts.map((node) => (
        <Button
          key={node.id}
          size="compact-sm"
          variant="default"
          onClick={() => goTo(pathBelow(tree.id, node))}
        >
          {labelOf(node)}
        </Button>
      ))}
    </nav>
  );
}

/** How much the server does not take yet, with the way to the first of it. */
export function FindingsCount(): ReactNode {
  const { t } = useMessages();
  const { findings } = useForm();
  const count = [...findings.values()].reduce((sum, texts) => sum + texts.length, 0);
  if (count === 0) return null;
  return (
    <Button
      variant="subtle"
      color="red"
      onClick={({ currentTarget: { form } }) => {
        if (form !== null) goToFinding(form);
      }}
    >
      {t('form.findingsCount', { count })}
    </Button>
  );
}

/** Puts the focus into the first field that a finding stands beside; of findings about parts that are no fields it shows the first. */
export function goToFinding(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid=true]');
  if (field === null) form.querySelector('.flag[role=alert]')?.scrollIntoView({ block: 'center' });
  else field.focus();
}

/** Frames in which a part that is not made yet is made, once it is near. */
const FRAMES = 60;

/** Shows a part of the form, the first of several. */
function goTo(path: string): void {
  const place = document.querySelector(placeOf(path)) ?? document.querySelector(placeOf(`${path}:0`));
  if (!(place instanceof HTMLElement)) return;
  place.scrollIntoView();
  focusIn(placeOf(place.dataset['place'] ?? ''), FRAMES);
}

function focusIn(place: string, frames: number): void {
  const title = document.querySelector<HTMLElement>(`${place} > summary`);
  if (title !== null) title.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusIn(place, frames - 1));
}

function placeOf(path: string): string {
  return `[data-place="${CSS.escape(path)}"]`;
}
