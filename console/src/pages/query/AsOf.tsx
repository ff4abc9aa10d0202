import '@mantine/core/styles/Slider.css';
import { Slider, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { ago } from '../../widgets/time-text.js';

const HOUR_MS = 3_600_000;
/** How far back the steps of the slider reach, in hours. */
const HOURS = [0, 1, 6, 24, 72, 168, 720, 2_160, 8_760, 43_800];

/** The time as of which a query is answered: exactly, or by a slider that goes back in growing steps. */
export function AsOf({
  value,
  onChange,
}: {
  /** As the input has it: without a zone, that of the reader. Empty: now. */
  readonly value: string;
  /** `isChosen`: by the slider, and let go. */
  readonly onChange: (time: string, isChosen: boolean) => void;
}): ReactNode {
  const { t, language } = useMessages();
  const [step, setStep] = useState(0);
  const nameOf = (at: number): string =>
    at === 0 ? t('overview.now') : ago(new Date(Date.now() - hoursOf(at) * HOUR_MS).toISOString(), language);
  return (
    <div className="as-of">
      <TextInput
        type="datetime-local"
        label={t('query.asOf')}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value, false)}
      />
      <Slider
        size="xs"
        min={0}
        max={HOURS.length - 1}
        thumbSize={24}
        value={value === '' ? 0 : step}
        label={nameOf}
        thumbLabel={t('query.asOfSlider')}
        thumbProps={{ 'aria-valuetext': nameOf(value === '' ? 0 : step) }}
        onChange={(next) => {
          setStep(next);
          onChange(localInput(next), false);
        }}
        onChangeEnd={(next) => onChange(localInput(next), true)}
      />
    </div>
  );
}

function hoursOf(step: number): number {
  return HOURS[step] ?? 0;
}

/** The time of a step as a `datetime-local` input has it. */
function localInput(step: number): string {
  if (step === 0) return '';
  const then = new Date(Date.now() - hoursOf(step) * HOUR_MS);
  return new Date(then.getTime() - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
