import type { Catalogue, WebTemplate } from '@everchart/aql';

/** Where templates are read. */
interface TemplateSource {
  readonly templates: () => Promise<readonly { readonly template_id: string }[]>;
  readonly webTemplate: (templateId: string) => Promise<WebTemplate>;
}

/** What the server's templates say, as far as they were read. */
export interface KnownTemplates {
  readonly catalogue: Catalogue;
  readonly known: number;
  readonly all: number;
}

/** Requests at a time: the store stays quick for those who work with it. */
const PARALLEL = 2;
/** How often the page is redrawn, in templates: thousands of them may not redraw it a thousand times. */
const STEP = 20;

/**
 * Reads those of the server's templates that a catalogue does not have yet, a few at a time. One that cannot be read is
 * left out. `onProgress` is called with what is known so far.
 */
export async function readTemplates(
  api: TemplateSource,
  catalogue: Catalogue,
  {
    onProgress,
    signal,
  }: { readonly onProgress: (known: KnownTemplates) => void; readonly signal: AbortSignal },
): Promise<KnownTemplates> {
  const ids = new Set((await api.templates()).map(({ template_id: id }) => id));
  const had = new Set(catalogue.templateIds);
  const missing = [...ids].filter((id) => !had.has(id));
  const state = (): KnownTemplates => ({ catalogue, known: catalogue.size, all: ids.size });
  let done = 0;
  const read = async (): Promise<void> => {
    for (let id = missing.shift(); id !== undefined && !signal.aborted; id = missing.shift()) {
      await api.webTemplate(id).then(
        (template) => catalogue.add(template),
        () => undefined,
      );
      done += 1;
      if (done % STEP === 0) onProgress(state());
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, read));
  return state();
}
