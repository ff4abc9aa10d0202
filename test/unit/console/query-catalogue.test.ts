import { describe, expect, it } from '@jest/globals';
import {
  readTemplates,
  type KnownTemplates,
} from '../../../console/src/pages/query/editor/known-templates.js';
import { Catalogue } from '../../../packages/aql/src/main.js';

type Api = Parameters<typeof readTemplates>[0];

/** A server with these templates; `asked`: those that were read, `most`: how many at a time. */
function serverOf(ids: readonly string[], unreadable: readonly string[] = []) {
  const asked: string[] = [];
  let now = 0;
  const seen = { asked, most: 0 };
  const api: Api = {
    templates: () => Promise.resolve(ids.map((id) => ({ template_id: id }))),
    webTemplate: async (id) => {
      asked.push(id);
      now += 1;
      seen.most = Math.max(seen.most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      if (unreadable.includes(id)) throw new Error('gone');
      const tree = { rmType: 'COMPOSITION', nodeId: `openEHR-EHR-COMPOSITION.${id}.v1`, aqlPath: '' };
      return { templateId: id, defaultLanguage: 'en', tree };
    },
  };
  return { api, seen };
}

const signal = new AbortController().signal;

describe('the templates behind the completion of AQL', () => {
  it('are read two at a time, however many there are, and the page is told now and then', async () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `t${index}`);
    const { api, seen } = serverOf(ids);
    const told: KnownTemplates[] = [];
    const known = await readTemplates(api, new Catalogue(), {
      onProgress: (state) => told.push(state),
      signal,
    });
    expect([known.known, known.all]).toEqual([2_000, 2_000]);
    expect([seen.asked.length, seen.most]).toEqual([2_000, 2]);
    expect(told).toHaveLength(100);
  });

  it('are read once: later only what is new', async () => {
    const catalogue = new Catalogue();
    await readTemplates(serverOf(['a', 'b']).api, catalogue, { onProgress: () => undefined, signal });
    const { api, seen } = serverOf(['a', 'b', 'c']);
    const known = await readTemplates(api, catalogue, { onProgress: () => undefined, signal });
    expect(seen.asked).toEqual(['c']);
    expect([known.known, known.all]).toEqual([3, 3]);
    // Where an archetype is found.
    expect(catalogue.archetype('openEHR-EHR-COMPOSITION.c.v1')?.templateId).toBe('c');
  });

  it('leave out one that cannot be read, so that its names are not called unknown', async () => {
    const { api } = serverOf(['a', 'b'], ['b']);
    const known = await readTemplates(api, new Catalogue(), { onProgress: () => undefined, signal });
    expect([known.known, known.all]).toEqual([1, 2]);
  });

  it('are read no further when the page is left', async () => {
    const left = new AbortController();
    const { api, seen } = serverOf(Array.from({ length: 100 }, (_, index) => `t${index}`));
    const reading = readTemplates(api, new Catalogue(), {
      onProgress: () => left.abort(),
      signal: left.signal,
    });
    await reading;
    expect(seen.asked.length).toBeLessThan(30);
  });
});
