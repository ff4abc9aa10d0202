import { CdrError, versionNumberOf, type WebTemplate } from '@everchart/client';
import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { contentOf, placeFindings } from '../../form/form-content.js';
import { placesOf } from '../../form/form-tree.js';
import type { JsonObject } from '../../api/types.js';
import type { FlatValues } from '../../form/values.js';
import { findingText } from '../../messages/finding-text.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, useWritten } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';
import { tell } from '../../widgets/tell.js';
import { useIsPrinting } from '../../widgets/use-print.js';
import { useIsNobody } from '../patient/PatientBanner.js';
import { Beside } from './Beside.js';
import { DraftState } from './DraftState.js';
import { FormNode } from './FormNode.js';
import { FindingsCount, goToFinding, Sections } from './Sections.js';
import { Refusal } from './Refusal.js';
import { Unasked, Unexpected, useUnasked, type Begun } from './Unasked.js';
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
  /** The version that is changed, as it is stored; null: a new document. */
  readonly stored?: JsonObject | null;
  /** What the user typed before and has not saved; null: he begins. */
  readonly draft?: OpenDraft | null;
}

/** A form with what can be done with it. What is typed is kept as a draft of the user until it is sent; where it cannot be, leaving asks. */
export function FormView({
  ehrId,
  template,
  latestUid,
  begin,
  stored = null,
  draft = null,
}: FormViewProps): ReactNode {
  const messages = useMessages();
  const [state] = useState(() => new FormState(begin, draft?.values));
  const isLarge = useIsLarge(template, state);
  const [begun, setBegun] = useState<Begun>({ uid: latestUid, values: begin, stored });
  const kept = useDraft({ ehrId, template, latestUid: begun.uid, state, draft });
  const save = useSave({ ehrId, template, begun, state, kept });
  const { isAsking } = save;
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
    if (error !== null && place.current !== null) goToFinding(place.current);
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
          if (save.isPending || isAsking) return;
          onFormKey(event, () => save.mutate({ lifecycle: '532' }));
        }}
      >
        {latestUid === null && <FillWithExample ehrId={ehrId} />}
        <Sections />
        <FormNode node={template.tree} parent="" />
        <Beside />
        {error instanceof Unasked && (
          <Unexpected
            changes={error.changes}
            isSaving={save.isPending}
            goOn={() => save.mutate({ lifecycle: error.lifecycle, isAgreed: true })}
            goBack={() => save.reset()}
          />
        )}
        {error !== null && !isAsking && (
          <Refusal
            error={error}
            ehrId={ehrId}
            begun={begun}
            goOn={(newer, merged) => {
              state.replace(merged);
              setBegun({ ...newer, stored: null });
              save.reset();
            }}
          />
        )}
        <SaveButtons save={save}>
          <FindingsCount />
          <DraftState ehrId={ehrId} draft={kept} />
        </SaveButtons>
      </form>
    </FormProvider>
  );
}

/** Whether a form has more fields than are made at once; on paper all of them are near. */
function useIsLarge(template: WebTemplate, state: FormState): boolean {
  const [hasMany] = useState(() => placesOf(template, state.values).size > MOST_AT_ONCE);
  return !useIsPrinting() && hasMany;
}

/** Ctrl+Enter sends; Enter takes the first that fits what was typed, or goes to the next field. */
function onFormKey(event: KeyboardEvent<HTMLFormElement>, send: () => void): void {
  if (event.key !== 'Enter' || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey) send();
  else if (isLine(event.target)) {
    event.preventDefault();
    const option = firstOption(event.target);
    if (option !== null) option.click();
    else nextField(event.target)?.focus();
  }
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

function SaveButtons({
  save: { mutate, isPending, isAsking },
  children,
}: {
  readonly save: ReturnType<typeof useSave>;
  readonly children: ReactNode;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Group gap="xs" className="form-bar">
      <Button
        loading={isPending}
        disabled={isAsking}
        title="Ctrl Enter"
        onClick={() => mutate({ lifecycle: '532' })}
      >
        {t('form.save')}
      </Button>
      <Button
        variant="default"
        disabled={isPending || isAsking}
        title={t('form.draftHint')}
        onClick={() => mutate({ lifecycle: '553' })}
      >
        {t('form.draft')}
      </Button>
      {children}
    </Group>
  );
}

/** How a document is saved. */
interface Saving {
  /** 553 is a draft. */
  readonly lifecycle: '532' | '553';
  /** What it changes besides what was typed has been seen. */
  readonly isAgreed?: boolean;
}

function useSave({
  ehrId,
  template,
  begun,
  state,
  kept,
}: {
  readonly ehrId: string;
  readonly template: WebTemplate;
  readonly begun: Begun;
  readonly state: FormState;
  readonly kept: DraftOfForm;
}) {
  const { t } = useMessages();
  const api = useApi();
  const written = useWritten();
  const unasked = useUnasked(ehrId, template, begun);
  const save = useMutation({
    mutationFn: async ({ lifecycle, isAgreed = false }: Saving) => {
      const content = contentOf(template, state.values);
      const how = { template: template.templateId, lifecycle, idempotencyKey: state.key };
      if (begun.uid === null) return api.createComposition(ehrId, content, how);
      const changes = isAgreed ? [] : await unasked();
      if (changes.length > 0) throw new Unasked(changes, lifecycle);
      return api.updateComposition(ehrId, begun.uid, content, { ...how, keepsUnshown: true });
    },
    onSuccess: async ({ uid }, { lifecycle }) => {
      state.keep();
      // One that stays ends by itself.
      await kept.remove().catch(() => undefined);
      tell(t(lifecycle === '553' ? 'toast.savedDraft' : 'toast.saved', { version: versionNumberOf(uid) }));
      await written(compositionView(ehrId, uid));
    },
  });
  return { ...save, isAsking: save.error instanceof Unasked };
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
