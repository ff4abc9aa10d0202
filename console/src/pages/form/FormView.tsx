import { CdrError, versionNumberOf, type WebTemplate } from '@everchart/client';
import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { contentOf, placeFindings } from '../../form/form-content.js';
import { placesOf } from '../../form/form-tree.js';
import type { FlatValues } from '../../form/values.js';
import { findingText } from '../../messages/finding-text.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useGo } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { useIsNobody } from '../patient/PatientBanner.js';
import { Beside } from './Beside.js';
import { DraftState } from './DraftState.js';
import { FormNode } from './FormNode.js';
import { Refusal } from './Refusal.js';
import { firstOption, isLine, nextField } from './enter.js';
import { FormProvider, FormState, useForm } from './form-state.js';
import { useDraft, type DraftOfForm, type OpenDraft } from './use-draft.js';

/** Fields that are made at once; of a form that has more, those near the screen. */
const MOST_AT_ONCE = 200;

interface FormViewProps {
  readonly ehrId: string;
  readonly template: WebTemplate;
  /** The version that is changed; null: a new document. */
  readonly latestUid: string | null;
  readonly begin: FlatValues;
  /** What the user typed before and has not saved; null: he begins. */
  readonly draft?: OpenDraft | null;
}

/** A form with what can be done with it. What is typed is kept as a draft of the user until it is sent; where it cannot be, leaving asks. */
export function FormView({ ehrId, template, latestUid, begin, draft = null }: FormViewProps): ReactNode {
  const messages = useMessages();
  const { t } = messages;
  const [state] = useState(() => new FormState(begin, draft?.values));
  const [isLarge] = useState(() => placesOf(template, state.values).size > MOST_AT_ONCE);
  const [begun, setBegun] = useState({ uid: latestUid, values: begin });
  const kept = useDraft({ ehrId, template, latestUid: begun.uid, state, draft });
  const save = useSave({ ehrId, template, latestUid: begun.uid, state, kept });
  const place = useRef<HTMLFormElement>(null);
  useLeaving(state, kept);
  const { error } = save;
  const form = useMemo(() => {
    const findings =
      error instanceof CdrError
        ? placeFindings(error.violations, placesOf(template, state.values), (finding) =>
            findingText(finding, messages),
          )
        : new Map<string, string[]>();
    return { state, template, findings, isLarge };
  }, [error, state, template, isLarge, messages]);
  useEffect(() => {
    if (error !== null) place.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  return (
    <FormProvider value={form}>
      <form
        ref={place}
        className="form"
        noValidate
        // Nothing but the buttons and Ctrl+Enter sends a document: not the Enter of whoever chooses from a list.
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.defaultPrevented || save.isPending) return;
          if (event.ctrlKey || event.metaKey) save.mutate('532');
          else if (isLine(event.target)) {
            event.preventDefault();
            const option = firstOption(event.target);
            if (option !== null) option.click();
            else nextField(event.target)?.focus();
          }
        }}
      >
        {latestUid === null && <FillWithExample ehrId={ehrId} />}
        <FormNode node={template.tree} parent="" />
        <Beside />
        {error !== null && (
          <Refusal
            error={error}
            ehrId={ehrId}
            begun={begun}
            goOn={(newer, merged) => {
              state.replace(merged);
              setBegun(newer);
              save.reset();
            }}
          />
        )}
        <Group gap="xs">
          <Button loading={save.isPending} title="Ctrl Enter" onClick={() => save.mutate('532')}>
            {t('form.save')}
          </Button>
          <Button
            variant="default"
            disabled={save.isPending}
            title={t('form.draftHint')}
            onClick={() => save.mutate('553')}
          >
            {t('form.draft')}
          </Button>
          <DraftState ehrId={ehrId} draft={kept} />
        </Group>
      </form>
    </FormProvider>
  );
}

/** Asks whoever leaves, where what he typed cannot be kept. */
function useLeaving(state: FormState, kept: DraftOfForm): void {
  const { t } = useMessages();
  useBlocker({
    shouldBlockFn: async () =>
      state.isChanged && !(await kept.keeper.keep()) && !window.confirm(t('form.leave')),
    enableBeforeUnload: () => {
      // Asks only what is not on the server yet, and sends that meanwhile.
      void kept.keeper.keep();
      return state.isChanged && !kept.keeper.isCurrent;
    },
  });
}

function useSave({
  ehrId,
  template,
  latestUid,
  state,
  kept,
}: Omit<FormViewProps, 'begin' | 'draft'> & { readonly state: FormState; readonly kept: DraftOfForm }) {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const go = useGo();
  return useMutation({
    mutationFn: (lifecycle: '532' | '553') => {
      const content = contentOf(template, state.values);
      const how = { template: template.templateId, lifecycle, idempotencyKey: state.key };
      return latestUid === null
        ? api.createComposition(ehrId, content, how)
        : api.updateComposition(ehrId, latestUid, content, { ...how, keepsUnshown: true });
    },
    onSuccess: async ({ uid }, lifecycle) => {
      state.keep();
      // One that stays ends by itself.
      await kept.remove().catch(() => undefined);
      await queries.invalidateQueries({ refetchType: 'none' });
      tell(t(lifecycle === '553' ? 'toast.savedDraft' : 'toast.saved', { version: versionNumberOf(uid) }));
      go(compositionView(ehrId, uid));
    },
  });
}

/** Invented values, where no patient is named whose record they could be taken for. */
function FillWithExample({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const isNobody = useIsNobody(ehrId);
  const api = useApi();
  const { state, template } = useForm();
  const [before, setBefore] = useState<FlatValues | null>(null);
  const example = useMutation({
    mutationFn: () => api.exampleFlat(template.templateId),
    onSuccess: (flat) => {
      setBefore(state.values);
      state.replace(flat as FlatValues);
    },
  });
  if (!isNobody) return null;
  return (
    <div>
      <Group gap="xs">
        <Button variant="default" size="xs" loading={example.isPending} onClick={() => example.mutate()}>
          {t('form.example')}
        </Button>
        {before !== null && (
          <Button
            variant="subtle"
            size="xs"
            onClick={() => {
              state.replace(before);
              setBefore(null);
            }}
          >
            {t('form.undo')}
          </Button>
        )}
      </Group>
      {example.error !== null && <Failure error={example.error} />}
    </div>
  );
}
