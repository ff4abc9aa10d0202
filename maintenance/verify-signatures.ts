import { signatureState } from '../change/commit/signature.js';
import type { VersionDoc } from '../models/version.js';
import { parsedContent } from './verify-container.js';
import type { Findings } from './verify-report.js';

/** The signature of each VERSION is that of what it is, as far as anybody here can tell: docs/spec/storage.md#signatures */
export async function checkSignatures(found: Findings, versions: readonly VersionDoc[]): Promise<void> {
  for (const version of versions) {
    if (version.signature === undefined && version.item?.signature === undefined) continue;
    if (parsedContent(version.data ?? '{}') === null) continue;
    try {
      if ((await signatureState(version)) === 'mismatched')
        found.add('versions', version._id, 'its signature is not that of what it is');
    } catch {
      found.add('versions', version._id, 'it is damaged beyond reading');
    }
  }
}
