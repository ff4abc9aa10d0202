import { readyPoliciesIn } from './ready-policies.js';

/** The part of docs/access.md with the ready policies: put in when the console is built (vite.config.ts). */
declare const READY_POLICIES: string;

/** The policies that everchart comes with, to begin with. */
export const READY = readyPoliciesIn(READY_POLICIES);
