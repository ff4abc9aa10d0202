import Joi from 'joi';
import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { StoredObject } from '../../change/policy/decide.js';
import type { AccessObject, AttributeValue } from '../../policy/object.js';
import { ACTIONS, attributesOf, type ObjectType } from '../../policy/schema.js';
import type { Action, Subject } from '../../policy/subject.js';
import { bodyOf, requiredBodyText } from '../http/exchange.js';
import { requestBody } from '../http/negotiation/media-type.js';

const MAX_TEXT = 1_000;
const MAX_MEMBERS = 1_000;
/** Principals of one comparison, each for each action: every object is decided twice for each of them. */
const MAX_REQUESTS = 20;
const MAX_DRAFTS = 1_000;

const text = Joi.string().allow('').max(MAX_TEXT);
const set = Joi.array().items(text).max(MAX_MEMBERS);

const principal = Joi.object<Subject>({
  sub: Joi.string().max(MAX_TEXT).required(),
  iss: text,
  client: text,
  roles: set.default([]),
  organisation: text,
  purpose: text,
  ehr: text,
  scopes: set.default([]),
});

/** Something that is not stored, as a policy sees it: `type`, `uid` of a VERSION, attributes and tags. */
const madeUp = (type: ObjectType): Joi.ObjectSchema => {
  const kinds = { String: text, 'Set<String>': set, datetime: Joi.date().iso() };
  const said = Object.entries(attributesOf(type)).filter(([, { isDerived }]) => isDerived !== true);
  const members = said.map(([name, { kind, isOptional }]): [string, Joi.Schema] => [
    name,
    isOptional === true ? kinds[kind] : kind === 'Set<String>' ? set.default([]) : kinds[kind].required(),
  ]);
  return Joi.object({
    type: Joi.valid(type).required(),
    ...(type === 'Version' && { uid: text.default('') }),
    ...Object.fromEntries(members),
    tags: Joi.object().pattern(Joi.string().max(MAX_TEXT), set).default({}),
  });
};
const MADE_UP = { Ehr: madeUp('Ehr'), Version: madeUp('Version') } as const;
const stored = Joi.object<StoredObject>({
  ehr_id: Joi.string().max(MAX_TEXT).required(),
  uid: Joi.string().max(MAX_TEXT),
});
const resource = Joi.object()
  .required()
  .when(Joi.object({ type: Joi.valid('Ehr').required() }).unknown(), {
    then: MADE_UP.Ehr,
    otherwise: Joi.object().when(Joi.object({ type: Joi.exist() }).unknown(), {
      then: MADE_UP.Version,
      otherwise: stored,
    }),
  });

/** The body of a dry decision. */
interface DecideBody {
  readonly principal: Subject;
  readonly action: Action;
  /** Whether he states that it is an emergency, and may. */
  readonly emergency: boolean;
  readonly resource: StoredObject | ({ readonly type: ObjectType } & Readonly<Record<string, unknown>>);
}

const decideSchema = Joi.object<DecideBody>({
  principal: principal.required(),
  action: Joi.valid(...ACTIONS).required(),
  resource,
  emergency: Joi.boolean().strict().default(false),
});

/** The body of a comparison. */
interface CompareBody {
  readonly policies: readonly { readonly id: string; readonly policy: string }[];
  readonly principals: readonly Subject[];
  readonly actions: readonly Action[];
}

const compareSchema = Joi.object<CompareBody>({
  policies: Joi.array()
    .items(Joi.object({ id: Joi.string().max(MAX_TEXT).required(), policy: Joi.string().required() }))
    .unique('id')
    .max(MAX_DRAFTS)
    .required(),
  principals: Joi.array().items(principal).min(1).max(MAX_REQUESTS).required(),
  actions: Joi.array()
    .items(Joi.valid(...ACTIONS))
    .min(1)
    .unique()
    .default(['read']),
});

const policySchema = Joi.object<{ readonly policy: string }>({ policy: Joi.string().required() });

/** The text of a policy, sent as it is or as `{"policy": "…"}`. @throws unsupported-media-type; invalid */
export function policyTextOf(ctx: Context): string {
  const { format } = requestBody('policy', ctx.get('Content-Type'));
  return format === 'TEXT' ? requiredBodyText(ctx) : bodyOf(ctx, policySchema).policy;
}

/** @throws as `bodyOf` */
export function decideBodyOf(ctx: Context): DecideBody {
  return bodyOf(ctx, decideSchema);
}

/** @throws as `bodyOf` */
export function compareBodyOf(ctx: Context): CompareBody {
  const body = bodyOf(ctx, compareSchema);
  if (body.principals.length * body.actions.length > MAX_REQUESTS)
    throw new CdrError('invalid', `principals times actions are at most ${MAX_REQUESTS}`);
  return body;
}

/** The object that a body describes; null: it names one that is stored. */
export function describedObject(given: DecideBody['resource']): AccessObject | null {
  if (!('type' in given)) return null;
  const { type, uid, tags, ...values } = given;
  const attributes = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]),
  ) as Record<string, AttributeValue>;
  const named = type === 'Ehr' ? String(attributes['ehr_id']) : String(uid);
  return { type, uid: named, attributes, tags: tags as AccessObject['tags'] };
}
