import { Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CdrError, type WebTemplate } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi, useOffice } from '../../session/session.js';
import { useAddress } from '../../shell/address.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { TemplateDifferences } from './TemplateDifferences.js';
import { TemplateRevisions } from './TemplateRevisions.js';

const COUNT = `SELECT COUNT(c/uid/value) AS used FROM EHR e CONTAINS COMPOSITION c
WHERE c/archetype_details/template_id/value = $template`;

/** How many documents a template has, and what differs from another one. */
export function TemplateUse({ template }: { readonly template: WebTemplate }): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { templateId } = template;
  const { address, change } = useAddress();
  const isAdmin = useOffice()?.isAdmin === true;
  const other = address.with ?? null;
  const { data: used } = useQuery({
    queryKey: ['template-use', templateId],
    queryFn: async () => {
      const [row] = await api.rows<{ used: number }>(COUNT, { parameters: { template: templateId } });
      return row?.used ?? 0;
    },
  });
  const { data: templates = [] } = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  return (
    <>
      <Section title={t('templates.use')}>
        <Text className="number">
          {used === undefined ? '…' : t('templates.used', { count: numberText(used, language) })}
        </Text>
      </Section>
      <Section title={t('templates.differences')}>
        <Select
          aria-label={t('templates.compareWith')}
          placeholder={t('templates.compareWith')}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('diff.back') }}
          nothingFoundMessage={t('palette.nothing')}
          data={templates.map(({ template_id: id }) => id).filter((id) => id !== templateId)}
          value={other}
          onChange={(id) => change({ with: id ?? undefined })}
        />
        {other !== null && <Differences template={template} other={other} />}
      </Section>
      {isAdmin && <TemplateRevisions template={template} />}
    </>
  );
}

function Differences({
  template,
  other,
}: {
  readonly template: WebTemplate;
  readonly other: string;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['template-differences', template.templateId, other],
    queryFn: async () => ({
      before: await api.webTemplate(other),
      difference: await api.compareTemplate(other, await api.opt(template.templateId)),
    }),
    staleTime: Infinity,
  });
  // The other template is known: what is not there is the operation.
  if (error instanceof CdrError && error.status === 404) return <Text mt="xs">{t('difference.off')}</Text>;
  if (error !== null) return <Failure error={error} />;
  return data === undefined ? <Loading rows={4} /> : <TemplateDifferences {...data} />;
}
