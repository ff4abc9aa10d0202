import { CdrError, type WebTemplate } from '@everchart/client';
import { Alert, Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { contentOf } from '../../form/form-content.js';
import type { FlatValues } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { changesOf, type Change } from '../../record/comparison/changes.js';
import { useApi } from '../../session/session.js';
import { Changes } from '../composition/Differences.js';

/** What a form began with. */
export interface Begun {
  /** The version that is changed; null: a new document. */
  readonly uid: string | null;
  readonly values: FlatValues;
  /** That version as it is stored; null: a new document, or one that is read anew. */
  readonly stored: JsonObject | null;
}

/** Saving waits: it would change what nobody typed. */
export class Unasked extends Error {
  readonly changes: readonly Change[];
  readonly lifecycle: '532' | '553';

  constructor(changes: readonly Change[], lifecycle: '532' | '553') {
    super('saving would change what nobody typed');
    this.changes = changes;
    this.lifecycle = lifecycle;
  }
}

/**
 * Finds what saving would change besides what was typed: what the form as it began would be stored as, beside what is stored.
 * A draft need not be valid, so it is asked as one.
 */
export function useUnasked(
  ehrId: string,
  template: WebTemplate,
  { uid, values, stored }: Begun,
): () => Promise<readonly Change[]> {
  const api = useApi();
  const reader = useMessages();
  return async () => {
    if (uid === null) return [];
    const how = { template: template.templateId, lifecycle: '553' } as const;
    const [before, untouched] = await Promise.all([
      stored ?? api.composition(ehrId, uid),
      api.previewComposition(ehrId, uid, contentOf(template, values), how).catch(unlessInvalid),
    ]);
    return before === null || untouched === null ? [] : changesOf(before, untouched, reader);
  };
}

/** What was stored under other rules may be refused by those of today: what is typed may be right all the same. */
function unlessInvalid(error: unknown): null {
  if (error instanceof CdrError && [400, 422].includes(error.status)) return null;
  throw error;
}

/** What saving would change besides what was typed, before it does. */
export function Unexpected({
  changes,
  isSaving,
  goOn,
  goBack,
}: {
  readonly changes: readonly Change[];
  readonly isSaving: boolean;
  readonly goOn: () => void;
  readonly goBack: () => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Alert color="yellow" variant="light" role="alert" title={t('unasked.title')} mb="md">
      <Changes changes={changes} />
      <Group gap="xs" mt="sm">
        <Button size="xs" loading={isSaving} onClick={goOn}>
          {t('unasked.save')}
        </Button>
        <Button size="xs" variant="default" onClick={goBack}>
          {t('unasked.back')}
        </Button>
      </Group>
    </Alert>
  );
}
