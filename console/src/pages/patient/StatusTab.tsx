import type { ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { DocumentNode } from '../composition/DocumentNode.js';

/** The EHR_STATUS, as a document. */
export function StatusTab({ status }: { readonly status: JsonObject }): ReactNode {
  return (
    <div className="document">
      <DocumentNode node={status} depth={1} />
    </div>
  );
}
