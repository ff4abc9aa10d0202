import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
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
import { FormView } from './FormView.js';

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
        <NewForm key={address.template} ehrId={ehrId} templateId={address.template} />
      ) : (
        <EditForm key={address.uid} ehrId={ehrId} uid={address.uid} />
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

function NewForm({
  ehrId,
  templateId,
}: {
  readonly ehrId: string;
  readonly templateId: string | undefined;
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
        onChange={(id) => change({ template: id ?? undefined })}
      />
      {templateId !== undefined && <BlankForm ehrId={ehrId} templateId={templateId} />}
    </>
  );
}

function BlankForm({
  ehrId,
  templateId,
}: {
  readonly ehrId: string;
  readonly templateId: string;
}): ReactNode {
  const { api, settings } = useSession();
  const template = useTemplate(templateId);
  const overview = useQuery({ queryKey: ['overview'], queryFn: api.overview });
  if (template.error !== null) return <Failure error={template.error} />;
  if (template.data === undefined || overview.isPending) return <Loading rows={12} height={32} />;
  const begin = emptyForm(template.data, {
    composer: overview.data?.user?.name ?? '',
    territory: settings.territory ?? territoryOf(navigator.language),
    now: isoWithZone(new Date()),
  });
  return <FormView ehrId={ehrId} template={template.data} latestUid={null} begin={begin} />;
}

/** The country in the language of the browser. */
function territoryOf(language: string): string {
  return new Intl.Locale(language).maximize().region ?? 'US';
}

function EditForm({ ehrId, uid }: { readonly ehrId: string; readonly uid: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
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
  const error = stored.error ?? template.error;
  if (error !== null) return <Failure error={error} />;
  if (composition === null) return <Empty title={t('composition.deleted')} />;
  if (composition === undefined || template.data === undefined) return <Loading rows={12} height={32} />;
  const unknown = unknownContent(template.data, composition);
  if (unknown.length > 0)
    return (
      <Empty
        title={t('form.cannot')}
        action={<ViewLink view={compositionView(ehrId, uid)}>{t('diff.back')}</ViewLink>}
      >
        {t('form.cannotHint', { names: [...new Set(unknown)].join(', ') })}
      </Empty>
    );
  return (
    <FormView
      ehrId={ehrId}
      template={template.data}
      latestUid={uid}
      begin={(stored.data?.flat ?? {}) as FlatValues}
    />
  );
}
