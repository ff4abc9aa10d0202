import { Button, FileButton, Group, Input, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { fileParts, NO_FILE, roomForFile } from '../../form/file-parts.js';
import type { FlatValue } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { useSession } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { useForm } from './form-state.js';
import type { PartProps } from './part-props.js';

const KIB = 1024;

/** A file that becomes a part of the document, with its media type, size and name. */
export function FileInput({ label, error, value, onChangeParts }: PartProps): ReactNode {
  const { t, language } = useMessages();
  const { settings } = useSession();
  const { state } = useForm();
  const [refusal, setRefusal] = useState<string | null>(null);
  const take = async (file: File | null): Promise<void> => {
    if (file === null) return;
    const room = roomForFile(state.values, value, settings.largest_document_bytes);
    if (file.size > room) {
      setRefusal(t('file.tooLarge', { size: numberText(Math.floor(room / KIB), language) }));
      return;
    }
    try {
      const data = base64Of(new Uint8Array(await file.arrayBuffer()));
      setRefusal(null);
      onChangeParts(fileParts(file, data));
    } catch {
      // Moved or locked since it was chosen.
      setRefusal(t('file.unreadable'));
    }
  };
  const kibibytes = numberText(Math.ceil(bytesOf(value) / KIB), language);
  return (
    <Input.Wrapper label={label} error={error ?? refusal}>
      <Group gap="xs">
        <FileButton onChange={(file) => void take(file)} inputProps={{ 'aria-label': label }}>
          {(props) => (
            <Button {...props} size="xs" variant="default">
              {t(value === undefined ? 'file.choose' : 'file.replace')}
            </Button>
          )}
        </FileButton>
        {value !== undefined && (
          <>
            <Text size="sm" role="status">
              {t('file.holds', { size: kibibytes })}
            </Text>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`${t('file.remove')}: ${label}`}
              onClick={() => onChangeParts(NO_FILE)}
            >
              {t('file.remove')}
            </Button>
          </>
        )}
      </Group>
    </Input.Wrapper>
  );
}

/** In pieces: a call takes no million arguments. */
function base64Of(bytes: Uint8Array): string {
  let text = '';
  const step = 32_768;
  for (let at = 0; at < bytes.length; at += step)
    text += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(text);
}

function bytesOf(value: FlatValue | undefined): number {
  return (String(value ?? '').replace(/=+$/, '').length * 3) / 4;
}
