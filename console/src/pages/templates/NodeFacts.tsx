import { Button, CopyButton, Group, SegmentedControl, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { CompositionFormat, WebTemplate, WebTemplateNode } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { cardinality, constraintsOf, nodeName, queryOf } from '../../record/web-node.js';
import { useApi } from '../../session/session.js';
import { useGo } from '../../shell/address.js';
import { Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { CopyText } from '../composition/SourceText.js';
import { useArchetypeTerms } from './archetype-terms.js';
import { TemplateUse } from './TemplateUse.js';

/** What a language is called in another one; of what is no language its code. */
function languageName(code: string, language: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** What a template says of a node, and how it is queried. */
export function NodeFacts({
  template,
  node,
}: {
  readonly template: WebTemplate;
  readonly node: WebTemplateNode;
}): ReactNode {
  const { t, language } = useMessages();
  const go = useGo();
  const constraints = constraintsOf(node, language);
  const terms = useArchetypeTerms(template, node);
  const isRoot = node === template.tree;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t('templates.type'), node.rmType],
    [t('templates.occurrences'), cardinality(node)],
    ...Object.entries(node.localizedNames ?? {}).map(
      ([code, name]) =>
        [languageName(code, language), `${name} — ${node.localizedDescriptions?.[code] ?? ''}`] as const,
    ),
    ...terms.map(
      ({ language: code, text, description = '' }) =>
        [languageName(code, language), `${text} — ${description}`] as const,
    ),
    ...(constraints.length > 0 ? ([[t('templates.takes'), constraints.join(' · ')]] as const) : []),
    ...(node.nodeId === undefined
      ? []
      : ([[t('templates.node'), <code key="id">{node.nodeId}</code>]] as const)),
    [t('templates.path'), <code key="path">{node.aqlPath || '/'}</code>],
  ];
  return (
    <section>
      <Title order={2}>{nodeName(node, language)}</Title>
      <dl className="node-facts">
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Group gap="xs">
        <CopyButton value={node.aqlPath ?? ''}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {t(copied ? 'id.copied' : 'templates.copyPath')}
            </Button>
          )}
        </CopyButton>
        <Button
          size="xs"
          variant="default"
          onClick={() => go({ to: '/query', search: { q: queryOf(template.tree, node) } })}
        >
          {t('templates.query')}
        </Button>
      </Group>
      {isRoot && <TemplateUse template={template} />}
      {isRoot && <Example templateId={template.templateId} />}
    </section>
  );
}

function Example({ templateId }: { readonly templateId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const [format, setFormat] = useState<CompositionFormat>('FLAT');
  const { data, error } = useQuery({
    queryKey: ['example', templateId, format],
    queryFn: () => api.example(templateId, format),
  });
  return (
    <Section
      title={t('templates.example')}
      aside={
        <SegmentedControl
          size="xs"
          value={format}
          onChange={(next) => setFormat(next)}
          data={['JSON', 'XML', 'FLAT', 'STRUCTURED'] satisfies CompositionFormat[]}
        />
      }
    >
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading rows={10} />}
      {data !== undefined && <CopyText text={data} label={t('templates.example')} />}
    </Section>
  );
}
