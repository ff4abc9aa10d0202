import type { ReactNode } from 'react';
import { at, isObject, items, textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { factsOf, isLocatable } from '../../record/structure.js';
import { attributeText } from '../../record/values/attribute-text.js';
import { factLines } from '../../record/values/facts.js';
import { Empty } from '../../widgets/states.js';
import { DocumentNode } from './DocumentNode.js';
import { Value } from './Value.js';

/** A COMPOSITION, to be read like a letter. */
export function CompositionDocument({ composition }: { readonly composition: JsonObject }): ReactNode {
  const { t } = useMessages();
  const context = at(composition, 'context');
  const other = at(context, 'other_context');
  const content = items(composition.content).filter(isLocatable);
  return (
    <article className="document">
      <dl className="letterhead">
        <Head label={t('document.when')} value={at(context, 'start_time')} />
        <Head label={t('document.until')} value={isSameTime(context) ? undefined : at(context, 'end_time')} />
        <Head label={t('document.who')} value={at(composition, 'composer')} />
        <Head label={t('document.where')} value={at(context, 'health_care_facility')} />
        <Head label={t('document.setting')} value={at(context, 'setting')} />
        <Head label={t('document.category')} value={at(composition, 'category')} />
      </dl>
      {isLocatable(other) && <DocumentNode node={other} depth={1} />}
      {content.map((node, index) => (
        <DocumentNode key={index} node={node} depth={1} />
      ))}
      <About composition={composition} />
      {content.length === 0 && <Empty title={t('document.noContent')} />}
      <p className="quiet">
        {t('document.template', {
          id: textAt(composition, 'archetype_details', 'template_id', 'value') || '–',
        })}
      </p>
    </article>
  );
}

/** What says where the document comes from and what it belongs to: participations, links, the system that sent it. */
function About({ composition }: { readonly composition: JsonObject }): ReactNode {
  const reader = useMessages();
  const { t } = reader;
  const context = at(composition, 'context');
  const named = isObject(context) ? Object.entries(context).filter(([name]) => !SHOWN_CONTEXT.has(name)) : [];
  const lines = [...factsOf(composition), ...named].flatMap(([name, value]) =>
    factLines(value, reader, [attributeText(name, reader)]),
  );
  if (lines.length === 0) return null;
  return (
    <section className="node about">
      <h2>{t('document.about')}</h2>
      {lines.map(([label, value], index) => (
        <div key={index} className="line fact">
          <span className="label">{label}</span>
          <span className="value">
            <Value value={value} />
          </span>
        </div>
      ))}
    </section>
  );
}

const SHOWN_CONTEXT = new Set([
  '_type',
  'start_time',
  'end_time',
  'setting',
  'other_context',
  'health_care_facility',
]);

function isSameTime(context: Json | undefined): boolean {
  return textAt(context, 'start_time', 'value') === textAt(context, 'end_time', 'value');
}

function Head({ label, value }: { readonly label: string; readonly value: Json | undefined }): ReactNode {
  if (value === undefined) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <Value value={value} />
      </dd>
    </div>
  );
}
