import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { UpgradePlan } from '@everchart/client';
import { isObject } from '../../api/json.js';
import { useMessages } from '../../messages/messages.js';
import { changesOf } from '../../record/comparison/changes.js';
import { numberText } from '../../widgets/number-text.js';
import { Changes } from '../composition/Differences.js';

/** What an upgrade would do: how many documents, why some are left, and what changes in some of the others. */
export function UpgradePlanned({ plan }: { readonly plan: UpgradePlan }): ReactNode {
  const { t, language } = useMessages();
  const count = (number: number): string => numberText(number, language);
  const { from, to, valid, mappable, invalid, unproven, causes } = plan;
  const counts = { from, to, valid: count(valid), mappable: count(mappable), invalid: count(invalid) };
  return (
    <>
      <Text mt="xs">{t('upgrade.counts', counts)}</Text>
      {unproven > 0 && (
        <Text size="sm" className="flag">
          {t('upgrade.unproven', { unproven: count(unproven) })}
        </Text>
      )}
      <ul>
        {causes.map(({ path, message, count: times }) => (
          <li key={`${path} ${message}`}>
            <Text size="sm">
              {count(times)} × {message} <code>{path}</code>
            </Text>
          </li>
        ))}
      </ul>
      <Examples examples={plan.examples} />
    </>
  );
}

function Examples({ examples }: Pick<UpgradePlan, 'examples'>): ReactNode {
  const reader = useMessages();
  if (examples.length === 0) return null;
  return (
    <>
      <Text size="sm">{reader.t('upgrade.examples')}</Text>
      <ul className="upgrade-examples">
        {examples.map(({ uid, before, after }) => (
          <li key={uid}>
            <details>
              <summary>
                <code>{uid}</code>
              </summary>
              {isObject(before) && isObject(after) && <Changes changes={changesOf(before, after, reader)} />}
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}
