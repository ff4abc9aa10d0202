// Made by `everchart codegen templates`. Data values: by suffix as in FLAT, and in canonical JSON.

/** What the plan of a node says of its values. */
export interface ValuePlan {
  readonly codes?: { readonly [code: string]: string | readonly [string, number] };
  readonly terminology?: string;
  readonly unit?: string;
  readonly kind?: number;
  /** Rubrics of openEHR codes. */
  readonly rubrics: { readonly [code: string]: string };
}

interface Json {
  readonly [member: string]: unknown;
}

interface Form {
  readonly write: (given: Json, plan: ValuePlan) => unknown;
  readonly read: (value: Json) => unknown;
}

/** Suffix by attribute; `$value`: the value without suffix. */
const FIELDS: { readonly [type: string]: { readonly [attribute: string]: string } } = {
  DV_TEXT: { value: '$value', formatting: 'formatting' },
  DV_QUANTITY: { magnitude: 'magnitude', units: 'unit', precision: 'precision' },
  DV_COUNT: { magnitude: '$value' },
  DV_PROPORTION: { numerator: 'numerator', denominator: 'denominator', type: 'type', precision: 'precision' },
  DV_PARSABLE: { value: '$value', formalism: 'formalism' },
  DV_IDENTIFIER: { id: 'id', type: 'type', issuer: 'issuer', assigner: 'assigner' },
  ...Object.fromEntries(
    ['BOOLEAN', 'DATE', 'TIME', 'DATE_TIME', 'DURATION', 'URI', 'EHR_URI'].map((name) => [
      `DV_${name}`,
      { value: '$value' },
    ]),
  ),
};

const FORMS: { readonly [type: string]: Form } = {
  DV_CODED_TEXT: { write: writeCoded, read: readCoded },
  DV_ORDINAL: { write: writeOrdinal('DV_ORDINAL'), read: readOrdinal },
  DV_SCALE: { write: writeOrdinal('DV_SCALE'), read: readOrdinal },
  DV_MULTIMEDIA: { write: writeMultimedia, read: readMultimedia },
  CODE_PHRASE: {
    write: ({ code, $value = code, terminology }, plan) => phrase($value, terminology, plan),
    read: readPhrase,
  },
  PARTY_PROXY: { write: writeParty, read: readParty },
  STRING: { write: ({ $value }) => $value, read: (value) => value },
};

/** Whether a class has a form here: a structure has not, nor what no template of ours has shown. */
export function hasForm(type: string): boolean {
  return type in FIELDS || formOf(type) !== undefined;
}

function formOf(type: string): Form | undefined {
  return FORMS[type.startsWith('PARTY_') ? 'PARTY_PROXY' : type];
}

/** A value in canonical JSON. */
export function writeLeaf(type: string, value: unknown, plan: ValuePlan): unknown {
  const given = (typeof value === 'object' && value !== null ? value : { $value: value }) as Json;
  const form = formOf(type);
  if (form !== undefined) return form.write(given, plan);
  const defaults: Json = {
    unit: plan.unit,
    type: plan.kind ?? 0,
    formalism: 'text/plain',
    id: given['$value'],
  };
  const made: { [attribute: string]: unknown } = { _type: type };
  for (const [attribute, suffix] of Object.entries(FIELDS[type] ?? {})) {
    const isDefault = type === 'DV_IDENTIFIER' ? suffix === 'id' : true;
    const one = given[suffix] ?? (isDefault ? defaults[suffix] : undefined);
    if (one !== undefined) made[attribute] = one;
  }
  return made;
}

/** A value by its suffixes; one without any as it is. */
export function readLeaf(type: string, value: unknown): unknown {
  const form = formOf(type);
  const actual = (value as Json)['_type'];
  if (form !== undefined && !(type === 'DV_CODED_TEXT' && actual === 'DV_TEXT'))
    return collapsed(form.read(value as Json));
  if (type === 'DV_CODED_TEXT') return { other: (value as Json)['value'] };
  if (type === 'DV_TEXT' && actual === 'DV_CODED_TEXT') return (value as Json)['value'];
  const read: { [suffix: string]: unknown } = {};
  for (const [attribute, suffix] of Object.entries(FIELDS[type] ?? {}))
    read[suffix] = (value as Json)[attribute];
  return collapsed(read);
}

function collapsed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  if (entries.length === 0) return undefined;
  return entries.length === 1 && entries[0]?.[0] === '$value' ? entries[0][1] : Object.fromEntries(entries);
}

function labelled(code: unknown, { codes, rubrics }: ValuePlan): readonly [string, number?] {
  const known = codes?.[String(code)] ?? rubrics[String(code)] ?? String(code);
  return typeof known === 'string' ? [known] : known;
}

function writeCoded(
  { code, $value = code, value, terminology, other, formatting }: Json,
  plan: ValuePlan,
): unknown {
  if (other !== undefined) return { _type: 'DV_TEXT', value: other };
  return {
    _type: 'DV_CODED_TEXT',
    value: value ?? labelled($value, plan)[0],
    ...(formatting !== undefined && { formatting }),
    defining_code: phrase($value, terminology, plan),
  };
}

function readCoded({ value, formatting, defining_code }: Json): unknown {
  return { ...readPhrase(defining_code as Json), value, formatting };
}

function writeOrdinal(_type: string): Form['write'] {
  return ({ code, $value = code, value, terminology, ordinal, scale }, plan) => {
    const [label, number] = labelled($value, plan);
    const symbol = writeCoded({ code: $value, value: value ?? label, terminology }, plan);
    return { _type, value: ordinal ?? scale ?? number, symbol };
  };
}

function readOrdinal({ value, symbol }: Json): unknown {
  const { code, value: label } = readCoded(symbol as Json) as Json;
  return { code, value: label, ordinal: value };
}

function writeMultimedia({ $value, url = $value, mediatype, alternatetext, size, data }: Json): unknown {
  return {
    _type: 'DV_MULTIMEDIA',
    ...(url !== undefined && { uri: { _type: 'DV_URI', value: url } }),
    media_type: phrase(mediatype, 'IANA_media-types', { rubrics: {} }),
    ...(alternatetext !== undefined && { alternate_text: alternatetext }),
    size: size ?? 0,
    ...(data !== undefined && { data }),
  };
}

function readMultimedia({ uri, media_type, alternate_text, size, data }: Json): unknown {
  const { code } = readPhrase(media_type as Json);
  return {
    $value: (uri as Json | undefined)?.['value'],
    mediatype: code,
    alternatetext: alternate_text,
    size,
    data,
  };
}

function phrase(code_string: unknown, terminology: unknown, plan: ValuePlan): Json {
  const value = terminology ?? plan.terminology ?? 'local';
  return { _type: 'CODE_PHRASE', terminology_id: { _type: 'TERMINOLOGY_ID', value }, code_string };
}

function readPhrase({ code_string, terminology_id }: Json): Json {
  return { code: code_string, terminology: (terminology_id as Json | undefined)?.['value'] };
}

function writeParty(given: Json): unknown {
  const { $value, name = $value, id, id_scheme, id_namespace, _type } = given;
  const external_ref = id !== undefined && {
    external_ref: {
      _type: 'PARTY_REF',
      id: { _type: 'GENERIC_ID', value: id, scheme: id_scheme ?? 'id_scheme' },
      namespace: id_namespace ?? 'local',
      type: 'PARTY',
    },
  };
  const type = _type ?? (name === undefined && id === undefined ? 'PARTY_SELF' : 'PARTY_IDENTIFIED');
  return { _type: type, ...(name !== undefined && { name }), ...external_ref };
}

function readParty({ _type, name, external_ref }: Json): unknown {
  const { id, namespace } = (external_ref ?? {}) as { id?: Json; namespace?: string };
  const isSelf = _type === 'PARTY_SELF';
  if (isSelf && id === undefined) return undefined;
  return {
    _type: isSelf ? _type : undefined,
    name,
    id: id?.['value'],
    id_scheme: id?.['scheme'],
    id_namespace: namespace,
  };
}
