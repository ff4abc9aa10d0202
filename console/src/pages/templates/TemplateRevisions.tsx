import { Button, Group, Table } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { TemplateRevision, WebTemplate } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { numberText } from '../../widgets/number-text.js';
import { Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { DataComparison } from './DataComparison.js';
import { TemplateDifferences } from './TemplateDifferences.js';
import { TemplateUpgrades } from './TemplateUpgrades.js';

/** The revisions of a template, for administrators: what was written by each, what differs from one to the next, and moving data. */
export function TemplateRevisions({ template }: { readonly template: WebTemplate }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { templateId } = template;
  const { data, error } = useQuery({
    queryKey: ['template-revisions', templateId],
    queryFn: () => api.templateRevisions(templateId),
  });
  return (
    <>
      <Section title={t('revisions.title')}>
        {error !== null && <Failure error={error} />}
        {data === undefined && error === null && <Loading rows={2} />}
        {data !== undefined && <Revisions template={template} revisions={data} />}
      </Section>
      {data !== undefined && data.length > 1 && <TemplateUpgrades templateId={templateId} />}
    </>
  );
}

interface RevisionsOf {
  readonly template: WebTemplate;
  /** Newest first. */
  readonly revisions: readonly TemplateRevision[];
}

function Revisions({ template, revisions }: RevisionsOf): ReactNode {
  const { t } = useMessages();
  const [shown, setShown] = useState<string | null>(null);
  const index = revisions.findIndex(({ revision }) => revision === shown);
  const before = index < 0 ? undefined : revisions[index + 1];
  return (
    <>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('revisions.revision')}</Table.Th>
            <Table.Th>{t('templates.uploaded')}</Table.Th>
            <Table.Th>{t('revisions.compositions')}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {revisions.map((revision) => (
            <Row
              key={revision.revision}
              templateId={template.templateId}
              revision={revision}
              isOldest={revision === revisions.at(-1)}
              isOnly={revisions.length === 1}
              isShown={revision.revision === shown}
              onShow={setShown}
            />
          ))}
        </Table.Tbody>
      </Table>
      {shown !== null && before !== undefined && (
        <Difference key={shown} templateId={template.templateId} from={before.revision} to={shown} />
      )}
    </>
  );
}

function Row({
  templateId,
  revision: { revision, uploaded_at, uploaded_by, compositions, versions },
  isOldest,
  isOnly,
  isShown,
  onShow,
}: {
  readonly templateId: string;
  readonly revision: TemplateRevision;
  readonly isOldest: boolean;
  readonly isOnly: boolean;
  readonly isShown: boolean;
  readonly onShow: (revision: string | null) => void;
}): ReactNode {
  const { t, language } = useMessages();
  return (
    <Table.Tr>
      <Table.Td>{revision}</Table.Td>
      <Table.Td>
        <Time value={uploaded_at} /> {uploaded_by}
      </Table.Td>
      <Table.Td className="number">{numberText(compositions, language)}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          {!isOldest && (
            <Button
              size="compact-xs"
              variant="default"
              aria-expanded={isShown}
              onClick={() => onShow(isShown ? null : revision)}
            >
              {t('revisions.compare')}
            </Button>
          )}
          {versions === 0 && !isOnly && <Remove templateId={templateId} revision={revision} />}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Difference({
  templateId,
  from,
  to,
}: {
  readonly templateId: string;
  readonly from: string;
  readonly to: string;
}): ReactNode {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['revision-differences', templateId, from, to],
    queryFn: async () => ({
      difference: await api.compareTemplate(templateId, { from, to }),
      // Only it has the names of what is gone.
      before: await api.webTemplate(templateId, from),
    }),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  return (
    <>
      <TemplateDifferences {...data} />
      <DataComparison templateId={templateId} after={{ from, to }} />
    </>
  );
}

function Remove({
  templateId,
  revision,
}: {
  readonly templateId: string;
  readonly revision: string;
}): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.removeRevision(templateId, revision),
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        color="red"
        loading={remove.isPending}
        onClick={() => window.confirm(t('revisions.removeSure', { revision })) && remove.mutate()}
      >
        {t('revisions.remove')}
      </Button>
      {remove.error !== null && <Failure error={remove.error} />}
    </>
  );
}
