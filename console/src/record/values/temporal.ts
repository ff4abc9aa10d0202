import { textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { durationText } from './duration.js';
import { instantText } from './instant.js';
import { besides, magnitudeStatus } from './ordered.js';
import type { Speech, ValueText } from './value-reader.js';

/** DV_DATE, DV_DATE_TIME. */
export function saidDateTime(value: Json, speech: Speech): ValueText {
  return said(value, 'date-time', speech);
}

/** DV_TIME. */
export function saidTime(value: Json, speech: Speech): ValueText {
  return said(value, 'time', speech);
}

/** DV_DURATION: its parts with their units. */
export function saidDuration(value: Json, speech: Speech): ValueText {
  const written = textAt(value, 'value');
  return { text: magnitudeStatus(value) + durationText(written), detail: written, ...besides(value, speech) };
}

function said(value: Json, kind: 'date-time' | 'time', speech: Speech): ValueText {
  const written = textAt(value, 'value');
  const { text, note } = instantText(written, speech, { kind, isExact: true });
  const { flag, notes = [] } = besides(value, speech);
  const all = note === undefined ? notes : [note, ...notes];
  return {
    text: magnitudeStatus(value) + text,
    detail: written,
    ...(flag !== undefined && { flag }),
    ...(all.length > 0 && { notes: all }),
  };
}
