import type { Catalogue } from '@everchart/aql';
import { endingOf } from '../../../record/web-node.js';
import type { MessageKey } from '../../../messages/en.js';
import type { Translate } from '../../../messages/translate.js';
import type { NamedClass } from './query-parts.js';

/** Something that a query can select or ask about. */
export interface BuilderField {
  /** The path, as this query writes it. */
  readonly value: string;
  /** By its term, and where it is from. */
  readonly label: string;
}

/** What every object of these classes has. */
const ALWAYS: Readonly<Record<string, readonly (readonly [path: string, name: MessageKey])[]>> = {
  EHR: [
    ['/ehr_id/value', 'field.ehr_id'],
    ['/ehr_status/subject/external_ref/id/value', 'field.subject_id'],
    ['/time_created/value', 'field.ehr_created'],
  ],
  COMPOSITION: [
    ['/uid/value', 'field.version_uid'],
    ['/name/value', 'field.document_name'],
    ['/context/start_time/value', 'field.document_start'],
    ['/composer/name', 'field.composer'],
    ['/archetype_details/template_id/value', 'field.template'],
  ],
  OBSERVATION: [['/data/origin/value', 'field.origin']],
};

/** What can be read of the classes that a query names, by the terms of templates. */
export function fieldsOf(
  classes: readonly NamedClass[],
  catalogue: Catalogue | null,
  t: Translate,
): readonly BuilderField[] {
  const fields = new Map<string, BuilderField>();
  for (const { className, variable, archetype } of classes) {
    for (const [path, name] of ALWAYS[className] ?? []) {
      const value = variable + path;
      fields.set(value, { value, label: `${t(name)} · ${variable}` });
    }
    const known = archetype === null ? undefined : catalogue?.archetype(archetype);
    for (const field of known === undefined ? [] : fieldsBelow(known, variable))
      fields.set(field.value, field);
  }
  return withOwnLabels([...fields.values()]);
}

/** What an archetype has a value at, by its terms. */
function* fieldsBelow(
  { name: archetype, nodes }: NonNullable<ReturnType<Catalogue['archetype']>>,
  variable: string,
): Generator<BuilderField> {
  for (const { path, name, classes } of nodes.values()) {
    const type = [...classes].find((each) => each.startsWith('DV_'));
    if (type === undefined || name === '') continue;
    const value = `${variable}${path}${endingOf({ rmType: type })}`;
    yield { value, label: `${name} · ${archetype} ${variable}` };
  }
}

/** Archetypes of templates that a query can be about, by their names. */
export function archetypesOf(catalogue: Catalogue | null): readonly BuilderField[] {
  const found = [...(catalogue?.archetypes ?? [])].filter(({ name, nodes }) => name !== '' && nodes.size > 0);
  return withOwnLabels(
    found.map(({ id, name, className }) => ({ value: id, label: `${name} (${className})` })),
  )
    .slice()
    .sort((a, b) => a.label.localeCompare(b.label));
}

/** Two of one name are told apart by what they are. */
function withOwnLabels(fields: readonly BuilderField[]): readonly BuilderField[] {
  const counts = new Map<string, number>();
  for (const { label } of fields) counts.set(label, (counts.get(label) ?? 0) + 1);
  return fields.map((field) =>
    counts.get(field.label) === 1 ? field : { ...field, label: `${field.label} (${field.value})` },
  );
}
