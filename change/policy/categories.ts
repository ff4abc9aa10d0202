import { CdrError } from '../../openehr/base/errors.js';
import { violationAt } from '../../openehr/base/violation.js';
import { holdPolicies } from '../../models/access-numbers.js';
import type { Session } from '../../models/access/write.js';
import { insertCategoryVersion, newestCategories, type CategoryVersionDoc } from '../../models/category.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { openMarksOfCategories } from '../../models/ehr-mark.js';
import { policies } from '../../models/policy.js';
import type { ActPlan } from '../../models/waiting-request.js';
import { CATEGORIES_ATTRIBUTE, type Category } from '../../policy/categories.js';
import { namedCategories } from '../../policy/named-categories.js';
import type { PolicyJson } from '../../policy/policy-json.js';
import { digestOf, writes, type Gate } from '../approval/gate.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import type { PolicyChange } from './policy.js';

/** Policies and EHRs that a refusal names. */
const NAMED = 10;

/** How the map of categories is changed. */
interface CategoriesChange extends Pick<PolicyChange, 'by'> {
  /** The version that the change follows; null: whichever it is. */
  readonly follows: number | null;
}

/**
 * Stores the map of categories as its newest version, which holds for every request that begins then. `gate`: where that takes two persons.
 * docs/access.md#categories
 * @throws precondition-failed where it follows another version; conflict where a policy or a mark asks for one that is not in it
 */
export async function storeCategories(
  wanted: readonly Category[],
  { by, follows }: CategoriesChange,
  gate?: Gate,
): Promise<CategoryVersionDoc> {
  const categories = wanted.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return inAuditedTransaction(
    async (session) => {
      // Policies are translated by it, and whoever stores one that asks for a category waits.
      if (writes(gate)) await holdPolicies(session);
      const before = await newestCategories();
      const version = (before?.version ?? 0) + 1;
      if (follows !== null && follows !== version - 1) throw changedMeanwhile(version - 1);
      await requireUnused(before?.categories ?? [], categories);
      await gate?.pass(session, changePlan(version, before?.categories ?? [], categories));
      const time = new Date();
      const doc: CategoryVersionDoc = { _id: `categories::${version}`, version, categories, time, ...by };
      if (writes(gate)) await insert(session, doc);
      return doc;
    },
    ({ version }) => ({ target: 'categories', ...(writes(gate) && { options: { version } }) }),
  );
}

async function insert(session: Session, doc: CategoryVersionDoc): Promise<void> {
  await insertCategoryVersion(doc);
  await noteStates(session, { collection: 'category_versions', ids: [doc._id], reason: 'definition' });
}

function changedMeanwhile(version: number): CdrError {
  return new CdrError('precondition-failed', `the categories are of version ${version} by now`);
}

/** @throws conflict with what asks for a category that is no longer there */
async function requireUnused(before: readonly Category[], after: readonly Category[]): Promise<void> {
  const kept = new Set(after.map(({ name }) => name));
  const gone = before.flatMap(({ name }) => (kept.has(name) ? [] : [name]));
  if (gone.length === 0) return;
  const asking = await policiesAsking();
  const marks = await openMarksOfCategories(gone, NAMED + 1);
  const problems = gone.flatMap((name) => {
    const ids = asking.flatMap(({ id, names }) => (names.has(name) ? [id] : []));
    const ehrs = marks.flatMap(({ category, ehr_id: ehrId }) => (category === name ? [ehrId] : []));
    const users = [
      ...(ids.length === 0 ? [] : [`policies: ${shortList(ids)}`]),
      ...(ehrs.length === 0 ? [] : [`marks of the EHRs: ${shortList([...new Set(ehrs)])}`]),
    ];
    return users.length === 0
      ? []
      : [violationAt('/categories', `the category ${name} is in use by ${users.join('; ')}`)];
  });
  if (problems.length === 0) return;
  throw new CdrError('conflict', problems.map(({ message }) => message).join('; '), { problems });
}

async function policiesAsking(): Promise<readonly { id: string; names: ReadonlySet<string> }[]> {
  return (await policies())
    .filter(({ json }) => json.includes(CATEGORIES_ATTRIBUTE))
    .map(({ _id: id, json }) => {
      const names = namedCategories(JSON.parse(json) as PolicyJson).map(({ name }) => name);
      return { id, names: new Set(names) };
    });
}

function shortList(ids: readonly string[]): string {
  return ids.length > NAMED ? `${ids.slice(0, NAMED).join(', ')} and more` : ids.join(', ');
}

/** What a second person sees, and agrees on: all of it, as it was and as it will be. */
function changePlan(version: number, before: readonly Category[], after: readonly Category[]): ActPlan {
  const was = new Set(before.map((each) => JSON.stringify(each)));
  const changed = after.filter((each) => !was.has(JSON.stringify(each))).length;
  const names = new Set(after.map(({ name }) => name));
  const removed = before.filter(({ name }) => !names.has(name)).length;
  return {
    digest: digestOf([version, JSON.stringify(after)]),
    summary: `categories: ${changed} are made or changed, ${removed} removed`,
    ehr_ids: [],
    version,
    before: linesOf(before),
    after: linesOf(after),
  };
}

function linesOf(categories: readonly Category[]): string {
  return JSON.stringify(categories, null, 2);
}
