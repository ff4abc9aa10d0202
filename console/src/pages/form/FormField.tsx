import type { WebTemplateNode } from '@everchart/client';
import { Select } from '@mantine/core';
import { memo, useRef, useState, type ReactNode } from 'react';
import { NULL_FLAVOURS, termText } from '../../form/openehr-terms.js';
import { breachOf } from '../../form/part-check.js';
import { changeOf, keyOf, partsOf, type FormPart } from '../../form/parts.js';
import { isGiven, type FlatValue } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { rangeText } from '../../record/web-node.js';
import { afterPress } from '../../widgets/press.js';
import { useForm, useFormValue } from './form-state.js';
import { useIsAsked, useLabels } from './labels.js';
import { PartInput } from './PartInput.js';

/** A value: its inputs in a row, findings under the first. */
export const FormField = memo(function FormField({
  node,
  path,
}: {
  readonly node: WebTemplateNode;
  readonly path: string;
}): ReactNode {
  const { language } = useMessages();
  const { findings } = useForm();
  const error = findings.get(path)?.join(' · ');
  return (
    <div className="form-field" title={node.localizedDescriptions?.[language]}>
      {partsOf(node, language).map((part, index) => (
        <Part
          key={part.suffix}
          node={node}
          path={path}
          part={part}
          isFirst={index === 0}
          error={index === 0 ? error : undefined}
        />
      ))}
      <WhyMissing node={node} path={path} />
    </div>
  );
});

function Part({
  node,
  path,
  part,
  isFirst,
  error,
}: {
  readonly node: WebTemplateNode;
  readonly path: string;
  readonly part: FormPart;
  readonly isFirst: boolean;
  readonly error: string | undefined;
}): ReactNode {
  const { state } = useForm();
  const { labelOf, partLabel } = useLabels();
  const isAsked = useIsAsked(node);
  const key = keyOf(path, part.suffix);
  const value = useFormValue(key, (values) => values[key]);
  const breach = useBreach(part, value);
  if (part.only !== undefined && (value === undefined || value === part.only)) return null;
  return (
    // Nobody is told of a mistake while he types.
    <div className="form-part" onFocus={breach.forgive} onBlur={breach.look}>
      <PartInput
        part={part}
        label={isFirst ? labelOf(node) : partLabel(part.suffix)}
        isRequired={isFirst && isAsked}
        error={error ?? breach.text}
        value={value}
        onChange={(next) => state.change(changeOf(path, part, next))}
        onChangeParts={(parts) =>
          state.change(
            Object.fromEntries(Object.entries(parts).map(([suffix, next]) => [keyOf(path, suffix), next])),
          )
        }
      />
    </div>
  );
}

/** What a value breaks, as soon as its field was left; the server looks at all of it once more. */
function useBreach(part: FormPart, value: FlatValue | undefined) {
  const { t } = useMessages();
  const [isLeft, setIsLeft] = useState(false);
  const isOut = useRef(false);
  const breach = isLeft ? breachOf(part, value) : null;
  return {
    text:
      breach === null
        ? undefined
        : t(`form.breach.${breach}`, { range: rangeText(part.range), pattern: part.pattern ?? '' }),
    look: () => {
      isOut.current = true;
      // A line more moves what is below.
      afterPress(() => setIsLeft(isOut.current));
    },
    forgive: () => {
      isOut.current = false;
      setIsLeft(false);
    },
  };
}

/** Why a required value is not there, in the words of openEHR; it stands in place of the value. */
function WhyMissing({ node, path }: { readonly node: WebTemplateNode; readonly path: string }): ReactNode {
  const { t, language } = useMessages();
  const { state } = useForm();
  const isAsked = useIsAsked(node);
  const key = `${path}/_null_flavour|code`;
  const flavour = useFormValue(key, (values) => values[key]);
  const isEmpty = useFormValue(path, (values) => !isGiven(values, path));
  const isElement = node.nodeId !== undefined && node.localizedName !== undefined;
  if (flavour === undefined && (!isEmpty || !isElement || !isAsked)) return null;
  return (
    <Select
      label={t('form.whyMissing')}
      clearable
      clearButtonProps={{ 'aria-label': t('form.clear', { label: t('form.whyMissing') }) }}
      data={Object.entries(NULL_FLAVOURS).map(([value, rubric]) => ({
        value,
        label: termText(value, rubric, language),
      }))}
      value={flavour === undefined ? null : String(flavour)}
      onChange={(code) =>
        state.change({
          [key]: code ?? undefined,
          [`${path}/_null_flavour|value`]: undefined,
          [`${path}/_null_flavour|terminology`]: undefined,
        })
      }
    />
  );
}
