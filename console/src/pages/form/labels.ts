import type { WebTemplateNode } from '@everchart/client';
import { useContext } from 'react';
import { isAsked } from '../../form/form-tree.js';
import { en, type MessageKey } from '../../messages/en.js';
import { useMessages } from '../../messages/messages.js';
import { nodeName } from '../../record/web-node.js';
import { IsThere } from './form-state.js';

/** Whether a node has to be filled in. */
export function useIsAsked(node: WebTemplateNode): boolean {
  return useContext(IsThere) && isAsked(node);
}

/** What nodes and parts are called: as the template has it, attributes of the reference model in the language of the console. */
export function useLabels(): {
  readonly labelOf: (node: WebTemplateNode) => string;
  readonly partLabel: (suffix: string) => string;
  /** What kind of value an alternative is. */
  readonly kindLabel: (node: WebTemplateNode) => string;
} {
  const { t, language } = useMessages();
  const known = (key: string, otherwise: string): string =>
    Object.hasOwn(en, key) ? t(key as MessageKey) : otherwise;
  return {
    labelOf: (node) => {
      const own = nodeName(node, language);
      // A name that is but the id is nobody's word.
      return node.localizedName === undefined || node.localizedName === node.id
        ? known(`rm.${node.id.replace(/\d+$/, '')}`, own)
        : own;
    },
    partLabel: (suffix) => known(`part.${suffix}`, suffix.replaceAll('_', ' ')),
    kindLabel: ({ rmType, id }) => known(`kind.${rmType}`, id.replace(/_value\d*$/, '').replaceAll('_', ' ')),
  };
}
