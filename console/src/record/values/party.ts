import { at, items, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { wholeText, type Speech, type ValueText } from './value-reader.js';

/** PARTY_IDENTIFIED, PARTY_RELATED, PARTY_SELF: the name, what he is to the patient, his identifiers beside it. */
export function saidParty(value: Json, { say, t }: Speech): ValueText {
  const reference = at(value, 'external_ref');
  const id = textAt(reference, 'id', 'value');
  const name = textAt(value, 'name');
  const isSelf = textAt(value, '_type') === 'PARTY_SELF';
  const notes = [
    textAt(value, 'relationship', 'value'),
    ...items(at(value, 'identifiers')).map((each) => wholeText(say(each))),
  ].filter((part) => part !== '');
  return {
    text: name === '' ? id || (isSelf ? t('party.self') : '–') : name,
    ...(id !== '' && { detail: referenceText(reference ?? null) }),
    ...(notes.length > 0 && { notes }),
  };
}

/** OBJECT_REF and what is one: `namespace::id`. */
export function saidReference(value: Json): ValueText {
  return { text: referenceText(value), detail: textAt(value, 'type') };
}

/** PARTICIPATION: `assistant: Ada Lovelace (face-to-face communication; 09:00 – 09:30)`. */
export function saidParticipation(value: Json, { say }: Speech): ValueText {
  const performer = say(at(value, 'performer'));
  const role = textAt(value, 'function', 'value');
  const [mode, time] = [say(at(value, 'mode')).text, say(at(value, 'time'))];
  const notes = [mode, wholeText(time), ...(performer.notes ?? [])].filter((part) => part !== '');
  return {
    text: role === '' ? performer.text : `${role}: ${performer.text}`,
    ...(performer.detail !== undefined && { detail: performer.detail }),
    ...(notes.length > 0 && { notes }),
  };
}

function referenceText(value: Json): string {
  const namespace = textAt(value, 'namespace');
  return `${namespace === '' ? '' : `${namespace}::`}${textAt(value, 'id', 'value')}`;
}
