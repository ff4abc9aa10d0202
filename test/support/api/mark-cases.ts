import { randomUUID } from 'node:crypto';
import type { ApiCase } from './cases.js';
import type { World } from './world.js';

const MARK = { kind: 'patient_restriction', ground: 'does not want it' };

/** Cases of marks of EHRs. `merged`: an EHR that was merged away. */
export function markCases(world: World, { merged }: { readonly merged: () => Promise<string> }): ApiCase[] {
  const ehr = async (): Promise<{ ehr_id: string }> => ({ ehr_id: await world.ehr() });
  const unknown = (): { ehr_id: string } => ({ ehr_id: randomUUID() });
  const body = { marks: [MARK] };
  const many = {
    marks: Array.from({ length: 101 }, (_, index) => ({ ...MARK, template_id: String(index) })),
  };
  const off = { accessMode: 'off' } as const;
  return [
    { id: 'marks_get', status: 200, call: async () => ({ params: await ehr(), query: '?history=true' }) },
    { id: 'marks_get', status: 400, call: () => ({ params: { ehr_id: 'all' } }) },
    { id: 'marks_get', status: 404, call: () => ({ params: unknown() }) },
    { id: 'marks_get', status: 409, call: async () => ({ params: await ehr(), settings: off }) },
    { id: 'marks_put', status: 200, call: async () => ({ params: await ehr(), body }) },
    { id: 'marks_put', status: 400, call: async () => ({ params: await ehr(), body: {} }) },
    { id: 'marks_put', status: 404, call: () => ({ params: unknown(), body }) },
    { id: 'marks_put', status: 409, call: async () => ({ params: { ehr_id: await merged() }, body }) },
    { id: 'marks_put', status: 422, call: async () => ({ params: await ehr(), body: many }) },
  ];
}
