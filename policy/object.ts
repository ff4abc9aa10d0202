import type { ObjectType } from './schema.js';

/** Value of an attribute; a time in ms since 1970. */
export type AttributeValue = string | number | readonly string[];

/** An EHR, or one VERSION of an object in it, as policies see it. Whole objects, never parts of one. */
export interface AccessObject {
  readonly type: ObjectType;
  /** EHR id, or OBJECT_VERSION_ID. */
  readonly uid: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Of the EHR, by key. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
}

/** An attribute that an object has itself: what an inherited name of JavaScript must never be. */
export function attributeOf({ attributes }: AccessObject, name: string): AttributeValue | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** Values of a tag; undefined without it. */
export function tagOf({ tags }: AccessObject, key: string): readonly string[] | undefined {
  return Object.hasOwn(tags, key) ? tags[key] : undefined;
}
