import { isJsonObject, type JsonObject } from '../../../base/json.js';
import { linkOf } from '../context.js';
import { objectAt, textAt } from '../../../rm/access.js';
import { readTable, writeTable } from './fields.js';
import { childOf, conflict, take, takeEither } from '../keys/keys.js';
import { uidOf } from './parties.js';
import type { Codec } from '../plan.js';
import { textOf } from './values.js';

/** UID_BASED_ID without suffix. */
export const UID_BASED_ID: Codec = {
  read(scope) {
    const given = take(scope, '');
    return given === undefined ? null : uidOf(textOf(given));
  },
  write(value, key, { environment: { out } }) {
    if (value.value !== undefined) out[key] = value.value;
  },
};

/** An attribute that is plain text in the RM. */
export const STRING: Codec = {
  read(scope) {
    const given = take(scope, '');
    return given === undefined ? null : textOf(given);
  },
  write(value, key, { environment: { out } }) {
    out[key] = value;
  },
};

/** `_link:i|meaning|type|target`. */
export const LINK: Codec = {
  read(scope) {
    const link = linkOf((part) => {
      const given = take(scope, part);
      return given === undefined ? null : textOf(given);
    });
    return Object.keys(link).length > 1 ? link : null;
  },
  write(value, key, { environment: { out } }) {
    for (const part of ['meaning', 'type', 'target']) {
      const text = textAt(value, part, 'value');
      if (text !== undefined) out[`${key}|${part}`] = text;
    }
  },
};

const CONTENTS = [
  ['original_content', 'DV_PARSABLE'],
  ['original_content_multimedia', 'DV_MULTIMEDIA'],
] as const;

/** `_feeder_audit/…`; one with details that FLAT has no keys for is written as `|raw`. */
export const FEEDER_AUDIT: Codec = {
  read(scope, target) {
    const audit: JsonObject = { _type: 'FEEDER_AUDIT' };
    let found = readTable('FEEDER_AUDIT', audit, scope, target);
    for (const [id, type] of CONTENTS) {
      const child = childOf(scope, id);
      const content = child === undefined ? null : target.environment.readValue(type, child, target);
      if (child === undefined || content === null) continue;
      if (audit.original_content !== undefined) throw conflict(`${scope.path}/original_content`, child.path);
      audit.original_content = content;
      found = true;
    }
    return found ? audit : null;
  },
  write(value, key, target) {
    if (hasOtherDetails(value)) {
      target.environment.out[`${key}|raw`] = JSON.stringify(value);
      return;
    }
    writeTable('FEEDER_AUDIT', value, key, target);
    const content = objectAt(value, 'original_content');
    const [id] = CONTENTS.find(([, type]) => type === content?._type) ?? [];
    if (content !== undefined && id !== undefined)
      target.environment.writeValue(content, `${key}/${id}`, target);
  },
};

/** `_instruction_details|composition_uid|path|activity_id`. */
export const INSTRUCTION_DETAILS: Codec = {
  read(scope, target) {
    const activity = take(scope, 'activity_id');
    const reference = LOCATABLE_REF.read(scope, target, 'LOCATABLE_REF');
    const details: JsonObject = { _type: 'INSTRUCTION_DETAILS' };
    if (reference !== null) details.instruction_id = reference;
    if (activity !== undefined) details.activity_id = textOf(activity);
    return Object.keys(details).length > 1 ? details : null;
  },
  write(value, key, target) {
    const reference = objectAt(value, 'instruction_id');
    const uid = textAt(reference, 'id', 'value');
    const { out } = target.environment;
    if (uid !== undefined) out[`${key}|composition_uid`] = uid;
    if (reference?.path !== undefined) out[`${key}|path`] = reference.path;
    if (value.activity_id !== undefined) out[`${key}|activity_id`] = value.activity_id;
  },
};

/** LOCATABLE_REF to an INSTRUCTION: `|composition_uid` (or `|id`), `|path`, `|namespace`, `|type`. */
export const LOCATABLE_REF: Codec = {
  read(scope) {
    const uid = takeEither(scope, 'composition_uid', 'id');
    const path = take(scope, 'path');
    const namespace = take(scope, 'namespace');
    const type = take(scope, 'type');
    if (uid === undefined && path === undefined && namespace === undefined && type === undefined) return null;
    return {
      _type: 'LOCATABLE_REF',
      ...(uid === undefined ? {} : { id: uidOf(textOf(uid)) }),
      namespace: namespace === undefined ? 'local' : textOf(namespace),
      type: type === undefined ? 'INSTRUCTION' : textOf(type),
      ...(path === undefined ? {} : { path: textOf(path) }),
    };
  },
  write(value, key, { environment: { out } }) {
    const uid = textAt(value, 'id', 'value');
    if (uid !== undefined) out[`${key}|id`] = uid;
    for (const part of ['path', 'namespace', 'type'])
      if (value[part] !== undefined) out[`${key}|${part}`] = value[part];
  },
};

function hasOtherDetails(audit: JsonObject): boolean {
  return ['originating_system_audit', 'feeder_system_audit'].some((name) => {
    const details = audit[name];
    return isJsonObject(details) && details.other_details !== undefined;
  });
}
