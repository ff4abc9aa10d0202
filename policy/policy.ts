import type { JsonObject } from '../openehr/base/json.js';
import type { Condition } from './condition.js';
import type { Request } from './known.js';
import { operatorOf, type Expression, type PolicyJson } from './policy-json.js';
import { isVariable, type Pair } from './terms.js';
import { askedBy, truthOf } from './translate.js';

/** What the annotation `emergency` of a policy may say. docs/access.md#emergency-access */
export const EMERGENCY = { permit: 'only', forbid: 'may pass' } as const;

/** What the annotation `counts` of a permit may say: a whole number from 2 to 999,999. docs/access.md#counts-alone */
const LEAST_PATIENTS = /^(?:[2-9]|[1-9]\d{1,5})$/;

/** Of how many patients a count has to be, by the annotation; null: there is none, or it says something else. */
export function leastPatients({ annotations = {} }: PolicyJson): number | null {
  const { counts } = annotations;
  return typeof counts === 'string' && LEAST_PATIENTS.test(counts) ? Number(counts) : null;
}

/** A policy that was translated: what it says of objects follows from who asks for what. */
export interface Policy {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  /** Attributes of who asks that it reads. */
  readonly reads: readonly string[];
  /** Attributes of the object that it asks for. */
  readonly asks: readonly string[];
  /** Whether it asks for tags of the EHR. */
  readonly asksTags: boolean;
  /** A role without which it is about nothing, whoever asks for what; null: none is needed. */
  readonly role: string | null;
  /** Of a forbid: emergency access passes it; of a permit: it holds for that only. */
  readonly isOfEmergency: boolean;
  /** Of a permit: what it permits is counted alone, where the count is of so many patients; null: it is answered as it is. */
  readonly leastPatients: number | null;
  /** The objects that it is about, of those that this request is for. */
  readonly about: (request: Request) => Condition;
}

/** Translates a policy that fits the schema. @throws NoTranslation */
export function translatedPolicy(id: string, json: PolicyJson): Policy {
  const whole = wholeCondition(json);
  const { reads, asks, asksTags } = askedBy(whole);
  return {
    id,
    effect: json.effect,
    reads: [...reads],
    asks: [...asks],
    asksTags,
    role: neededRole(whole),
    leastPatients: leastPatients(json),
    isOfEmergency: json.annotations?.['emergency'] === EMERGENCY[json.effect],
    about: truthOf(whole),
  };
}

/** A role that a condition needs: `principal.roles.contains("…")`, alone or beside others of which all must hold. */
function neededRole(expression: Expression): string | null {
  const [name, operands] = operatorOf(expression);
  if (name !== '&&' && name !== 'contains') return null;
  const { left, right } = operands as Pair;
  if (name === '&&') return neededRole(left) ?? neededRole(right);
  const { left: of, attr } = (left['.'] ?? {}) as { left?: Expression; attr?: unknown };
  const isOfRoles = attr === 'roles' && of !== undefined && isVariable(of, 'principal');
  return isOfRoles && typeof right['Value'] === 'string' ? right['Value'] : null;
}

/** Head and clauses of a policy as one condition. */
function wholeCondition({ principal, action, resource, conditions }: PolicyJson): Expression {
  const clauses = conditions.map(({ kind, body }): Expression =>
    kind === 'when' ? body : { '!': { arg: body } },
  );
  const parts = [
    headCondition('action', action),
    headCondition('principal', principal),
    headCondition('resource', resource),
    ...clauses,
  ];
  return parts.reduce<Expression>((left, right) => ({ '&&': { left, right } }), { Value: true });
}

/** What the head says of one of its variables, as the condition that means the same. */
function headCondition(name: string, constraint: JsonObject): Expression {
  const left = { Var: name };
  const { op, entity, entities, entity_type: type, in: within } = constraint;
  if (op === '==') return { '==': { left, right: entityLiteral(entity) } };
  if (op === 'in') return { in: { left, right: groupLiteral(entity, entities) } };
  if (op !== 'is') return { Value: true };
  const group = within === undefined ? {} : { in: entityLiteral((within as JsonObject).entity) };
  return { is: { left, entity_type: type ?? '', ...group } };
}

function groupLiteral(entity: unknown, entities: unknown): Expression {
  return Array.isArray(entities)
    ? { Set: entities.map((each) => entityLiteral(each)) }
    : entityLiteral(entity);
}

function entityLiteral(entity: unknown): Expression {
  const named = entity as JsonObject;
  return { Value: '__entity' in named ? named : { __entity: named } };
}
