import { rmSync, statSync } from 'node:fs';
import type { Output } from '../output.js';
import { AnswerCutShort, type ApiClient } from './api-client.js';

/** How often an EXTRACT is begun that breaks off, where a file can be begun anew. */
const MAX_READS = 10;

/** Where an EXTRACT goes. */
interface ExtractSink {
  /** Its path; absent: stdout. */
  readonly file: string | undefined;
  /** Begins it, anew. */
  readonly open: () => Output;
}

/**
 * Writes the EXTRACT of an EHR. One that breaks off, because something of the EHR was merged, moved or erased while it was read, is begun
 * anew, so that a file has all of it or is not there; what stdout or a pipe has nobody can take back.
 * @throws AnswerError as the server answers; Error, naming the EHR, when it breaks off again and again
 */
export async function writeExtract(client: ApiClient, ehrId: string, sink: ExtractSink): Promise<void> {
  const { file, open } = sink;
  const isAnew = file !== undefined && isRegular(file);
  const half = { isThere: false };
  try {
    for (let reads = 1; ; reads += 1) {
      const cut = await written(client, ehrId, open, half);
      if (cut === null) return;
      if (!isAnew || reads === MAX_READS) throw notExported(ehrId, cut);
    }
  } catch (error) {
    if (isAnew && half.isThere) rmSync(file, { force: true });
    throw error;
  }
}

function notExported(ehrId: string, cut: AnswerCutShort): Error {
  const why = `${cut.message}, as it does where something of an EHR is merged, moved or erased meanwhile`;
  return new Error(`EHR ${ehrId} is not exported whole: ${why}`, { cause: cut });
}

/** Writes all of it and gives null, or how it broke off. `half`: notes that something is written. */
async function written(
  client: ApiClient,
  ehrId: string,
  open: () => Output,
  half: { isThere: boolean },
): Promise<AnswerCutShort | null> {
  const output = open();
  let isBegun = false;
  try {
    for await (const text of await client.stream('GET', `/ehr/${encodeURIComponent(ehrId)}/extract`)) {
      isBegun = true;
      half.isThere = true;
      await output.write(text);
    }
    await output.end();
    return null;
  } catch (error) {
    // What is on its way to the file must not come behind what is written anew.
    if (isBegun) await output.end().catch(() => undefined);
    if (error instanceof AnswerCutShort) return error;
    throw error;
  }
}

/** Whether it can be written from its beginning again, as pipes and devices cannot. */
function isRegular(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? true;
}
