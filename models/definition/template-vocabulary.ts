import { collapsedToken } from '../../openehr/base/text.js';
import type { TemplateVocabulary } from '../../openehr/template/opt/node-ids.js';
import { nodeIdsOf } from '../../openehr/template/opt/node-ids.js';
import { templateById, templateRevisions } from './template.js';

/** Of more templates than this nothing is said. */
export const MAX_VOCABULARY_TEMPLATES = 2_000;

/** Characters of texts that one look reads, some tenths of a second: of more templates a later look goes on. */
const MOST_READ = 20_000_000;

/** The names of templates that this process has read. */
interface ReadTemplates extends TemplateVocabulary {
  /** The texts that were read: a text is never read twice. */
  readonly texts: Map<string, string>;
  readonly templates: Set<string>;
  readonly archetypes: Map<string, Set<string>>;
}

const emptyOnes = (): ReadTemplates => ({ texts: new Map(), templates: new Set(), archetypes: new Map() });

let read = emptyOnes();
let reading: Promise<TemplateVocabulary | null> | null = null;

/** What this process knows of templates so far: what is in it was there, what is not may have been stored since. */
export function knownVocabulary(): TemplateVocabulary {
  return read;
}

/**
 * The names of all templates that are stored now; null when they are too many, or not all are read yet. Asks for their revisions, and
 * reads the texts that are new only; callers at one time share one look.
 */
export function presentVocabulary(): Promise<TemplateVocabulary | null> {
  reading ??= readNew().finally(() => (reading = null));
  return reading;
}

async function readNew(): Promise<TemplateVocabulary | null> {
  const present = new Map(await templateRevisions(MAX_VOCABULARY_TEMPLATES + 1));
  if (present.size > MAX_VOCABULARY_TEMPLATES) return null;
  // A text that is gone may have been the only one with a name: all are read anew.
  const isGone = [...read.texts].some(([id, revision]) => present.get(id) !== revision);
  const next = isGone ? emptyOnes() : read;
  read = next;
  let left = MOST_READ;
  for (const [id, revision] of present) {
    if (next.texts.has(id)) continue;
    if (left <= 0) return null;
    const doc = await templateById(id);
    if (doc === null) continue;
    left -= doc.opt.length;
    next.texts.set(id, revision);
    next.templates.add(collapsedToken(id));
    for (const [archetype, codes] of nodeIdsOf(doc.opt)) {
      const all = next.archetypes.get(archetype) ?? new Set<string>();
      next.archetypes.set(archetype, all);
      for (const code of codes) all.add(code);
    }
  }
  return next;
}
