import { attributeText } from './attribute-text.js';
import { asText, isObject, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { saidCode, saidIdentifier, saidParsable, saidInner, saidParagraph, saidText } from './coded.js';
import { saidInterval } from './interval.js';
import { saidLink, saidUri } from './link.js';
import { saidMultimedia } from './multimedia.js';
import { saidOrdinal } from './ordinal.js';
import { saidParticipation, saidParty, saidReference } from './party.js';
import { saidProportion } from './proportion.js';
import { saidCount, saidQuantity } from './quantity.js';
import { saidDateTime, saidDuration, saidTime } from './temporal.js';
import { wholeText, type Speech, type ValueReader, type ValueText } from './value-reader.js';

type Sayer = (value: Json, speech: Speech) => ValueText;

/** How each class is said; what stands here in no line is said by `anyText`. */
const SAYERS: Readonly<Record<string, Sayer>> = {
  DV_TEXT: saidText,
  DV_CODED_TEXT: saidText,
  DV_STATE: saidInner,
  DV_GENERAL_TIME_SPECIFICATION: saidInner,
  DV_PERIODIC_TIME_SPECIFICATION: saidInner,
  DV_PARAGRAPH: saidParagraph,
  DV_QUANTITY: saidQuantity,
  DV_COUNT: saidCount,
  DV_ORDINAL: saidOrdinal,
  DV_SCALE: saidOrdinal,
  DV_PROPORTION: saidProportion,
  DV_DATE_TIME: saidDateTime,
  DV_DATE: saidDateTime,
  DV_TIME: saidTime,
  DV_DURATION: saidDuration,
  DV_BOOLEAN: saidBoolean,
  DV_IDENTIFIER: saidIdentifier,
  DV_URI: saidUri,
  DV_EHR_URI: saidUri,
  DV_PARSABLE: saidParsable,
  DV_MULTIMEDIA: saidMultimedia,
  CODE_PHRASE: saidCode,
  PARTY_IDENTIFIED: saidParty,
  PARTY_RELATED: saidParty,
  PARTY_SELF: saidParty,
  PARTICIPATION: saidParticipation,
  LINK: saidLink,
};

/** Whether a class is said as one value. */
export function isSaid(type: string): boolean {
  return sayerOf(type) !== undefined || type.startsWith('DV_');
}

/** Says a value of the reference model, whatever it is. */
export function valueText(value: Json | undefined, reader: ValueReader): ValueText {
  const speech: Speech = {
    language: reader.language,
    zone: reader.zone,
    t: reader.t,
    say: (inner) => said(inner, speech),
  };
  return said(value, speech);
}

function said(value: Json | undefined, speech: Speech): ValueText {
  if (value === undefined || value === null) return { text: '' };
  if (typeof value === 'boolean') return saidBoolean({ value }, speech);
  if (!isObject(value)) return { text: Array.isArray(value) ? anyText(value, speech) : asText(value) };
  return sayerOf(textAt(value, '_type'))?.(value, speech) ?? { text: anyText(value, speech) };
}

function sayerOf(type: string): Sayer | undefined {
  if (/^(DV_)?INTERVAL/.test(type) || type.startsWith('DV_INTERVAL'))
    return type.startsWith('INTERVAL_EVENT') ? undefined : saidInterval;
  if (/^[A-Z_]+_REF$/.test(type)) return saidReference;
  if (/^[A-Z_]+_ID$/.test(type)) return saidId;
  return SAYERS[type];
}

/** OBJECT_ID and UID. */
function saidId(value: Json): ValueText {
  return { text: textAt(value, 'value') };
}

function saidBoolean(value: Json, { t }: Speech): ValueText {
  const isTrue = isObject(value) && value['value'] === true;
  return { text: isTrue ? '✓' : '✗', detail: t(isTrue ? 'form.yes' : 'form.no') };
}

/** What no reader knows: its members, so that nothing is hidden. */
function anyText(value: Json, speech: Speech): string {
  const text = (inner: Json): string => wholeText(speech.say(inner));
  if (Array.isArray(value)) return value.map(text).join(', ');
  if (!isObject(value)) return asText(value);
  return Object.entries(value)
    .filter(([name, member]) => name !== '_type' && member !== undefined)
    .map(([name, member]) => `${attributeText(name, speech)}: ${text(member ?? null)}`)
    .join(', ');
}
