import { Button, Popover, Stack, Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';

/** For those who know AQL: only EHRs that hold something. */
export function ConditionFilter({
  value,
  onApply,
}: {
  readonly value: string;
  readonly onApply: (text: string) => void;
}): ReactNode {
  const { t } = useMessages();
  const [text, setText] = useState(value);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={420} position="bottom-start" trapFocus>
      <Popover.Target>
        <Button
          size="md"
          variant={value === '' ? 'default' : 'light'}
          onClick={() => {
            setIsOpen((before) => !before);
          }}
        >
          {t('patients.filter')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <Textarea
            label={t('patients.where')}
            description={t('patients.whereHint')}
            placeholder="CONTAINS OBSERVATION o WHERE o/name/value = '…'"
            classNames={{ input: 'mono' }}
            rows={5}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
            }}
          />
          <Button
            onClick={() => {
              setIsOpen(false);
              onApply(text.trim());
            }}
          >
            {t('patients.apply')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
