import './form.css';
import type { WebTemplate } from '@everchart/client';
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { emptyForm } from '../../form/form-content.js';
import { isoWithZone } from '../../form/time-form.js';
import { unknownContent } from '../../form/unknown-content.js';
import type { FlatValues } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useSession } from '../../session/session.js';
import { compositionView, patientView, useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { PatientBanner, usePatientName } from '../patient/PatientBanner.js';
import { Drafts } from './Drafts.js';
import { FormView } from './FormView.js';
import type { OpenDraft } from './use-draft.js';

/** A document as a form: a new one by its template, or one that is there by its uid. */
export function FormPage(): ReactNode {
  const { t } = useMessages();
  const { address, params } = useAddress();
  const { ehrId = '' } = params;
  const crumbs = [
    { label: t('nav.patients'), view: { to: '/patients' } },
    { label: usePatientName(ehrId), view: patientView(ehrId) },
  ];
  return (
    <Page title={t(address.uid === undefined ? 'form.new' : 'form.edit')} crumbs={crumbs}>
      <PatientBanner ehrId={ehrId} />
      {address.uid === undefined ? (
        <NewForm
          key={`${address.template ?? ''} ${address.draft ?? ''}`}
          ehrId={ehrId}
          templateId={address.template}
          draftId={address.draft}
        />
      ) : (
        <EditForm
          key={`${address.uid} ${address.draft ?? ''}`}
          ehrId={ehrId}
          uid={address.uid}
          draftId={address.draft}
        />
      )}
    </Page>
  );
}

function useTemplate(templateId: string | undefined) {
  const api = useApi();
  return useQuery({
    queryKey: ['web-template', templateId],
    queryFn: () => api.webTemplate(templateId ?? ''),
    enabled: templateId !== undefined && templateId !== '',
    staleTime: Infinity,
  });
}

/** What was typed before, by the draft that the address names; null: it names none. */
function useOpenDraft(ehrId: string, draftId: string | undefined) {
  const api = useApi();
  return useQuery({
    queryKey: ['draft', ehrId, draftId],
    queryFn: async () => {
      if (draftId === undefined) return null;
      const { content } = await api.draft(ehrId, draftId);
      return { id: draftId, values: content as FlatValues };
    },
    // What the user is changing is never read anew below his hands.
    staleTime: Infinity,
    gcTime: 0,
  });
}

function NewForm({
  ehrId,
  templateId,
  draftId,
}: {
  readonly ehrId: string;
  readonly templateId: string | undefined;
  readonly draftId: string | undefined;
}): ReactNode {
  const { t } = useMessages();
  const { change } = useAddress();
  const api = useApi();
  const templates = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  if (templates.error !== null) return <Failure error={templates.error} />;
  if (templates.data?.length === 0)
    return <Empty title={t('templates.none')}>{t('steps.templateHint')}</Empty>;
  return (
    <>
      <Select
        className="form-template"
        label={t('templates.id')}
        placeholder={t('form.chooseTemplate')}
        searchable
        nothingFoundMessage={t('palette.nothing')}
        data={(templates.data ?? []).map(({ template_id: id }) => id)}
        value={templateId ?? null}
        onChange={(id) => change({ template: id ?? undefined, draft: undefined })}
      />
      {templateId !== undefined && (
        <>
          {draftId === undefined && <Drafts ehrId={ehrId} of={{ template: templateId }} />}
          <BlankForm ehrId={ehrId} templateId={templateId} draftId={draftId} />
        </>
      )}
    </>
  );
}

function BlankForm({
  ehrId,
  templateId,
  draftId,
}: {
  readonly ehrId: string;
  readonly templateId: string;
  readonly draftId: string | undefined;
}): ReactNode {
  const { api, settings } = useSession();
  const draft = useOpenDraft(ehrId, draftId);
  const template = useTemplate(templateId);
  const overview = useQuery({ queryKey: ['overview'], queryFn: api.overview });
  const error = template.error ?? draft.error;
  if (error !== null) return <Failure error={error} />;
  if (template.data === undefined || overview.isPending || draft.data === undefined)
    return <Loading rows={12} height={32} />;
  const begin = emptyForm(template.data, {
    composer: overview.data?.user?.name ?? '',
    territory: settings.territory ?? territoryOf(navigator.language),
    now: isoWithZone(new Date()),
  });
  return (
    <FormView ehrId={ehrId} template={template.data} latestUid={null} begin={begin} draft={draft.data} />
  );
}

/** The country in the language of the browser. */
function territoryOf(language: string): string {
  return new Intl.Locale(language).maximize().region ?? 'US';
}

function EditForm({
  ehrId,
  uid,
  draftId,
}: {
  readonly ehrId: string;
  readonly uid: string;
  readonly draftId: string | undefined;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const draft = useOpenDraft(ehrId, draftId);
  const stored = useQuery({
    queryKey: ['form', ehrId, uid],
    queryFn: async () => {
      const [composition, flat] = await Promise.all([
        api.composition(ehrId, uid),
        api.compositionFlat(ehrId, uid),
      ]);
      return { composition, flat };
    },
    // What the user is changing is never read anew below his hands.
    staleTime: Infinity,
    gcTime: 0,
  });
  const composition = stored.data?.composition;
  const template = useTemplate(textAt(composition, 'archetype_details', 'template_id', 'value'));
  const error = stored.error ?? template.error ?? draft.error;
  if (error !== null) return <Failure error={error} />;
  if (composition === null) return <Empty title={t('composition.deleted')} />;
  if (composition === undefined || template.data === undefined || draft.data === undefined)
    return <Loading rows={12} height={32} />;
  return (
    <>
      {draftId === undefined && <Drafts ehrId={ehrId} of={{ uid }} />}
      <KnownForm
        ehrId={ehrId}
        uid={uid}
        template={template.data}
        composition={composition}
        begin={(stored.data?.flat ?? {}) as FlatValues}
        draft={draft.data}
      />
    </>
  );
}

/** The form of a document, where its template describes all of it. */
function KnownForm({
  ehrId,
  uid,
  template,
  composition,
  ...content
}: {
  readonly ehrId: string;
  readonly uid: string;
  readonly template: WebTemplate;
  readonly composition: JsonObject;
  readonly begin: FlatValues;
  readonly draft: OpenDraft | null;
}): ReactNode {
  const { t } = useMessages();
  const unknown = unknownContent(template, composition);
  if (unknown.length === 0)
    return <FormView ehrId={ehrId} template={template} latestUid={uid} stored={composition} {...content} />;
  return (
    <Empty
      title={t('form.cannot')}
      action={<ViewLink view={compositionView(ehrId, uid)}>{t('diff.back')}</ViewLink>}
    >
      {t('form.cannotHint', { names: [...new Set(unknown)].join(', ') })}
    </Empty>
  );
}
