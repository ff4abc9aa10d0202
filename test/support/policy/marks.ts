import type { RequestListener } from 'node:http';
import jwt from 'jsonwebtoken';
import request, { type Test } from 'supertest';
import { TEST_JWT_SECRET } from '../settings.js';
import { bearer } from '../tokens.js';

/** Who may set any mark, and reads and writes. */
export const ROOT = bearer(['USER', 'ADMIN'], 'root');

/** Roles of tests of marks: who may break the glass beside those who are always there. */
export const MARK_ROLES = {
  USER: ['read', 'write', 'draft'],
  ADMIN: ['read', 'write', 'admin', 'audit', 'restore'],
  AUDITOR: ['read', 'audit'],
  NIGHT: ['read', 'write', 'emergency'],
} as const;

/** Token of somebody with these roles and claims. */
export function tokenOf(roles: readonly string[], claims: object = {}, subject = 'ada'): string {
  return `Bearer ${jwt.sign({ roles, ...claims }, TEST_JWT_SECRET, { subject, expiresIn: 36_000 })}`;
}

/** Replaces the marks of an EHR. */
export function putMarks(app: RequestListener, ehr: string, marks: readonly object[], token = ROOT): Test {
  return request(app).put(`/rest/ehrs/${ehr}/marks`).set('Authorization', token).send({ marks });
}

/** A restriction of processing. */
export const RESTRICTED = { kind: 'restriction_of_processing', ground: 'he contests it' } as const;
/** A restriction of the patient. */
export const WITHHELD = { kind: 'patient_restriction', ground: 'he does not want it' } as const;
/** An objection to research. */
export const OBJECTED = { kind: 'research_objection', ground: 'he objects' } as const;
