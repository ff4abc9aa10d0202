import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';

import {
  createTemplate,
  deleteAllTemplates,
  deleteTemplate,
  putTemplate,
  updateTemplate,
} from '../../change/definition/template.js';
import { inTransaction } from '../../database/transaction.js';
import {
  compiledTemplate,
  keepTemplates,
  markTemplateUsed,
  templateInUse,
  templateSummaries,
  type UploadedTemplate,
} from '../../models/definition/template.js';
import { runWrites } from '../../models/access/write.js';
import { compileTemplate } from '../../openehr/template/compile.js';
import { useDatabase } from '../support/database.js';
import { fixtureText } from '../support/fixture.js';

const FIXTURE_ID = 'minimal_evaluation.en.v1';
const OPT = fixtureText(`opt/${FIXTURE_ID}.opt`);

interface StoredVersion {
  readonly _id: string;
  readonly template_id: string;
}

function uploaded(templateId: string, concept = 'Concept'): UploadedTemplate {
  const opt = OPT.replace(`<value>${FIXTURE_ID}</value>`, `<value>${templateId}</value>`).replace(
    /<concept>.*<\/concept>/,
    `<concept>${concept}</concept>`,
  );
  return { opt, compiled: compileTemplate(opt) };
}

const templates = () => mongoose.connection.collection<{ _id: string; used: boolean }>('templates');
const versions = () => mongoose.connection.collection<StoredVersion>('versions');
const newId = () => `t.${randomUUID()}`;

/** As the first commit of a COMPOSITION does it. False: the template was changed meanwhile. */
function commitWith(templateId: string, inUse: Awaited<ReturnType<typeof templateInUse>>): Promise<boolean> {
  return inTransaction(async (session) => {
    if (!(await runWrites(session, [markTemplateUsed(inUse!)]))) return false;
    await versions().insertOne({ _id: randomUUID(), template_id: templateId }, { session });
    return true;
  });
}

useDatabase();

describe('templates', () => {
  it('are compiled once and kept, as many as configured', async () => {
    const ids = [newId(), newId()] as const;
    for (const id of ids) await createTemplate(uploaded(id));
    expect(await compiledTemplate(ids[0])).toBe(await compiledTemplate(ids[0]));
    keepTemplates(1);
    const before = await compiledTemplate(ids[0]);
    await compiledTemplate(ids[1]);
    expect(await compiledTemplate(ids[0])).not.toBe(before);
    keepTemplates(200);
  });

  it('are compiled anew when another process replaced or re-created them', async () => {
    const id = newId();
    await createTemplate(uploaded(id, 'First'));
    expect((await compiledTemplate(id))?.concept).toBe('First');
    const { opt } = uploaded(id, 'Second');
    await templates().updateOne({ _id: id }, { $set: { opt }, $inc: { revision: 1 } });
    expect((await compiledTemplate(id))?.concept).toBe('Second');
    await templates().updateOne(
      { _id: id },
      { $set: { opt: uploaded(id, 'Third').opt, created_timestamp: new Date(0) } },
    );
    expect((await compiledTemplate(id))?.concept).toBe('Third');
    await templates().deleteOne({ _id: id });
    expect(await compiledTemplate(id)).toBeNull();
  });

  it('are listed without their texts', async () => {
    const id = newId();
    await createTemplate(uploaded(id));
    const summary = (await templateSummaries()).find(({ _id }) => _id === id);
    expect(Object.keys(summary!).sort()).toEqual(['_id', 'archetype_id', 'concept', 'created_timestamp']);
  });

  it('leave nothing behind when an id exists', async () => {
    const id = newId();
    await createTemplate(uploaded(id, 'First'));
    await expect(createTemplate(uploaded(id, 'Second'))).rejects.toMatchObject({ code: 'conflict' });
    expect((await compiledTemplate(id))?.concept).toBe('First');
  });
});

describe('replacing and deleting', () => {
  beforeEach(async () => {
    await versions().deleteMany({});
    await templates().deleteMany({});
  });

  it('is possible while no version refers to the template', async () => {
    const id = newId();
    await createTemplate(uploaded(id, 'First'));
    await updateTemplate(uploaded(id, 'Second'));
    expect((await compiledTemplate(id))?.concept).toBe('Second');
    await putTemplate(uploaded(id, 'Third'));
    expect((await compiledTemplate(id))?.concept).toBe('Third');
    await deleteTemplate(id);
    expect(await compiledTemplate(id)).toBeNull();
    await putTemplate(uploaded(id, 'Fourth'));
    expect((await compiledTemplate(id))?.concept).toBe('Fourth');
  });

  it('is refused for a template in use, and for an unknown one', async () => {
    const id = newId();
    await createTemplate(uploaded(id, 'First'));
    expect(await commitWith(id, await templateInUse(id))).toBe(true);
    expect((await templateInUse(id))?.used).toBe(true);
    for (const change of [
      () => updateTemplate(uploaded(id, 'Second')),
      () => putTemplate(uploaded(id, 'Second')),
      () => deleteTemplate(id),
      () => deleteAllTemplates(),
    ])
      await expect(change()).rejects.toMatchObject({
        code: 'unprocessable',
        message: expect.stringContaining(`template ${id} since it is used by at least one composition`),
      });
    expect((await compiledTemplate(id))?.concept).toBe('First');
    await expect(updateTemplate(uploaded(newId()))).rejects.toMatchObject({ code: 'not-found' });
    await expect(deleteTemplate(newId())).rejects.toMatchObject({ code: 'not-found' });
  });

  it('and the first use at the same time never both succeed', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = newId();
      await createTemplate(uploaded(id, 'First'));
      const inUse = await templateInUse(id);
      const [used, replaced] = await Promise.allSettled([
        commitWith(id, inUse),
        updateTemplate(uploaded(id, 'Second')),
      ]);
      const isUsed = used.status === 'fulfilled' && used.value;
      expect([isUsed, replaced.status]).toEqual([isUsed, isUsed ? 'rejected' : 'fulfilled']);
      expect((await compiledTemplate(id))?.concept).toBe(isUsed ? 'First' : 'Second');
    }
  });

  it('of all removes all or none', async () => {
    for (const id of [newId(), newId()]) await createTemplate(uploaded(id));
    expect(await deleteAllTemplates()).toBe(2);
    expect(await templates().countDocuments()).toBe(0);
    expect(await deleteAllTemplates()).toBe(0);
  });
});
