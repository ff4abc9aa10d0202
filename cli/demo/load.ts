import type { JsonObject } from '../../openehr/base/json.js';
import type { DemoClient } from './client.js';
import { DEMO_TEMPLATES, templateText } from './fixtures.js';
import { compositionsOfPatient } from './patient.js';
import { seededRandom } from './random.js';

/** How much made-up data is loaded, and how. */
export interface LoadPlan {
  readonly ehrs: number;
  readonly compositionsPerEhr: number;
  readonly seed: number;
  /** Requests under way at once. */
  readonly parallel: number;
}

/** Uploads the templates, creates the EHRs and commits their compositions; gives the ehr_ids. */
export async function loadDemoData(
  client: DemoClient,
  plan: LoadPlan,
  onCommit: (committed: number) => void,
): Promise<string[]> {
  for (const name of DEMO_TEMPLATES) await client.uploadTemplate(templateText(name));
  const ehrIds: string[] = [];
  let committed = 0;
  await inParallel(plan.ehrs, plan.parallel, async (index) => {
    const ehrId = await client.createEhr(`P-${String(index + 1).padStart(4, '0')}`);
    ehrIds[index] = ehrId;
    for (const composition of patientCompositions(plan, index)) {
      await client.commitComposition(ehrId, composition);
      committed += 1;
      onCommit(committed);
    }
  });
  return ehrIds;
}

/** The compositions of patient number `index`, the same for the same plan. */
export function patientCompositions(plan: LoadPlan, index: number): JsonObject[] {
  return compositionsOfPatient(seededRandom(plan.seed * 100_003 + index), plan.compositionsPerEhr);
}

/** Runs `work` for 0 … count - 1, at most `parallel` at once. @throws the first failure. */
export async function inParallel(
  count: number,
  parallel: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, lane));
}
