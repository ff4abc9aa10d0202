import type { WebTemplateNode } from '@everchart/client';
import { Button, Input, Select, Text } from '@mantine/core';
import { memo, useContext, useState, type ReactNode } from 'react';
import { layoutOf } from '../../form/form-layout.js';
import { chosenOf, isRepeated, kindOf, pathBelow, shownPaths } from '../../form/form-tree.js';
import { isGiven, withoutOccurrence, withoutPlace } from '../../form/values.js';
import { useMessages } from '../../messages/messages.js';
import { cardinality } from '../../record/web-node.js';
import { Around, Fold, Further } from './Fold.js';
import { FormField } from './FormField.js';
import { Near } from './Near.js';
import { IsThere, useForm, useFormValue } from './form-state.js';
import { useIsAsked, useLabels } from './labels.js';

/** A node of a template with all its occurrences. `path`: without the index. */
export const FormNode = memo(function FormNode({
  node,
  parent,
}: {
  readonly node: WebTemplateNode;
  readonly parent: string;
}): ReactNode {
  const path = pathBelow(parent, node);
  if (kindOf(node) === 'hidden') return null;
  if (!isRepeated(node))
    return (
      <Near path={path} node={node}>
        <Occurrence node={node} path={path} />
      </Near>
    );
  return <Occurrences node={node} path={path} parent={parent} />;
});

function Occurrences({
  node,
  path,
  parent,
}: {
  readonly node: WebTemplateNode;
  readonly path: string;
  readonly parent: string;
}): ReactNode {
  const { t } = useMessages();
  const { state } = useForm();
  const { labelOf } = useLabels();
  const [wanted, setWanted] = useState(1);
  const given = useFormValue(parent, (values) => shownPaths(values, path, node).length);
  const count = Math.max(given, wanted);
  const label = labelOf(node);
  const remove = (index: number): void => {
    setWanted(count - 1);
    state.replace(withoutOccurrence(state.values, path, index));
  };
  return (
    <div className="form-occurrences">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="form-occurrence">
          <Near path={`${path}:${index}`} node={node}>
            <Occurrence node={node} path={`${path}:${index}`} />
          </Near>
          {count > Math.max(1, node.min) && (
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => remove(index)}>
              {t('form.remove', { label, number: index + 1 })}
            </Button>
          )}
        </div>
      ))}
      {(node.max < 0 || count < node.max) && (
        <Button size="compact-sm" variant="default" onClick={() => setWanted(count + 1)}>
          {t('form.add', { label })}{' '}
          <Text span size="xs" c="dimmed" ml={6} className="number">
            {cardinality(node)}
          </Text>
        </Button>
      )}
    </div>
  );
}

function Occurrence({ node, path }: { readonly node: WebTemplateNode; readonly path: string }): ReactNode {
  switch (kindOf(node)) {
    case 'field':
      return <FormField node={node} path={path} />;
    case 'choice':
      return <Choice node={node} path={path} />;
    case 'interval':
      return <Interval node={node} path={path} />;
    default:
      return <Group node={node} path={path} />;
  }
}

/** Findings about a place that is no field. */
function Findings({ path }: { readonly path: string }): ReactNode {
  const { findings } = useForm();
  return findings.get(path)?.map((text) => (
    <Text key={text} className="flag" role="alert">
      {text}
    </Text>
  ));
}

function Group({ node, path }: { readonly node: WebTemplateNode; readonly path: string }): ReactNode {
  const { labelOf } = useLabels();
  const { language } = useMessages();
  const isRequired = useIsAsked(node);
  const isFilled = useFormValue(path, (values) => isGiven(values, path));
  const isThere = useContext(IsThere) && (node.min > 0 || isFilled);
  const { first, aside } = layoutOf(node);
  const nodesOf = (nodes: readonly WebTemplateNode[]): ReactNode =>
    nodes.map((child) => <FormNode key={child.id} node={child} parent={path} />);
  if (!path.includes('/'))
    return (
      <div className="form-fields">
        <Around node={node} path={path}>
          {nodesOf(aside)}
        </Around>
        {nodesOf(first)}
      </div>
    );
  return (
    <Fold
      places={[path]}
      // Of devices and the like there are pages of fields, mostly for nobody.
      isOpenAtFirst={node.rmType !== 'CLUSTER' || node.min > 0 || isFilled}
      description={node.localizedDescriptions?.[language]}
      title={
        <>
          {labelOf(node)}
          {isRequired && <span className="form-required"> *</span>}
        </>
      }
    >
      <Findings path={path} />
      <div className="form-fields">
        <IsThere value={isThere}>
          {nodesOf(first)}
          {aside.length > 0 && (
            <Further nodes={aside} path={path}>
              {nodesOf(aside)}
            </Further>
          )}
        </IsThere>
      </div>
    </Fold>
  );
}

/** A value of one of several kinds: which one, and its field. */
function Choice({ node, path }: { readonly node: WebTemplateNode; readonly path: string }): ReactNode {
  const { t } = useMessages();
  const { state } = useForm();
  const { labelOf, kindLabel } = useLabels();
  const [wanted, setWanted] = useState<string | null>(null);
  const given = useFormValue(path, (values) => chosenOf(values, path, node)?.id ?? null);
  const children = node.children ?? [];
  const chosen = given ?? wanted ?? children[0]?.id ?? null;
  const child = children.find(({ id }) => id === chosen);
  const choose = (id: string | null): void => {
    setWanted(id);
    state.replace(withoutPlace(state.values, path));
  };
  return (
    <Input.Wrapper
      label={labelOf(node)}
      withAsterisk={useIsAsked(node)}
      labelElement="div"
      className="form-choice"
    >
      <Findings path={path} />
      <div className="form-field">
        <Select
          label={t('form.kind')}
          allowDeselect={false}
          data={children.map((each) => ({ value: each.id, label: kindLabel(each) }))}
          value={chosen}
          onChange={choose}
        />
        {child !== undefined && <FormNode node={child} parent={path} />}
      </div>
    </Input.Wrapper>
  );
}

/** From, to; an end that is left empty is open. */
function Interval({ node, path }: { readonly node: WebTemplateNode; readonly path: string }): ReactNode {
  const { t } = useMessages();
  const { labelOf } = useLabels();
  const ends = [...(node.children ?? [])].sort((left, right) => left.id.localeCompare(right.id));
  return (
    <Input.Wrapper
      label={labelOf(node)}
      description={t('form.openEnds')}
      withAsterisk={useIsAsked(node)}
      labelElement="div"
    >
      <Findings path={path} />
      <div className="form-interval">
        {ends.map((end) => (
          // Neither end has to be there: one that is not is open.
          <FormNode key={end.id} node={end.min > 0 ? { ...end, min: 0 } : end} parent={path} />
        ))}
      </div>
    </Input.Wrapper>
  );
}
