import { versionedObjectUidOf } from '@everchart/client';
import { Button, Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { at, items, textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { filedId, withFiled, withFolder, withoutFiled, type FolderPlace } from '../../record/folders.js';
import { instantText } from '../../record/values/instant.js';
import { useApi } from '../../session/session.js';
import { compositionView } from '../../shell/address.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { compositionsOf } from './patient-data.js';

interface TreeProps {
  readonly ehrId: string;
  readonly root: JsonObject;
  /** null: the user may not change it. */
  readonly save: ((root: JsonObject) => void) | null;
}

/** A tree of folders; a document is filed by dropping it, or by choosing it. */
export function FolderTree(props: TreeProps): ReactNode {
  const api = useApi();
  const reader = useMessages();
  const { ehrId } = props;
  const { data = [] } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
  });
  const names = new Map(
    data.map(({ uid, name, time }) => [
      versionedObjectUidOf(uid),
      `${name} · ${instantText(time, reader).text}`,
    ]),
  );
  return <Folder {...props} folder={props.root} place={[]} names={names} />;
}

type FolderProps = TreeProps & {
  readonly folder: Json;
  readonly place: FolderPlace;
  /** Of documents, by their ids. */
  readonly names: ReadonlyMap<string, string>;
};

function Folder(props: FolderProps): ReactNode {
  const { ehrId, root, save, folder, place, names } = props;
  const { t } = useMessages();
  const [isOver, setIsOver] = useState(false);
  const refs = items(at(folder, 'items'));
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    setIsOver(false);
    const id = versionedObjectUidOf(event.dataTransfer.getData('text/plain'));
    if (names.has(id)) save?.(withFiled(root, place, id));
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    setIsOver(true);
  };
  const drag = save === null ? {} : { onDragOver: over, onDrop: drop, onDragLeave: () => setIsOver(false) };
  return (
    <details open className="folder" data-over={isOver} {...drag}>
      <summary>
        {textAt(folder, 'name', 'value')}{' '}
        <Text span size="sm" c="dimmed">
          {t('patient.filed', { count: refs.length })}
        </Text>
      </summary>
      <ul>
        {refs.map((ref, index) => {
          const id = filedId(ref);
          return (
            <li key={`${id} ${index}`}>
              <ViewLink view={compositionView(ehrId, id)}>{names.get(id) ?? id}</ViewLink>{' '}
              {save !== null && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="gray"
                  aria-label={t('directory.takeOut', { name: names.get(id) ?? id })}
                  onClick={() => save(withoutFiled(root, place, id))}
                >
                  ✕
                </Button>
              )}
            </li>
          );
        })}
        {items(at(folder, 'folders')).map((each, index) => (
          <li key={`${textAt(each, 'uid', 'value')} ${index}`}>
            <Folder {...props} folder={each} place={[...place, index]} />
          </li>
        ))}
        {save !== null && <AddHere {...props} save={save} />}
      </ul>
    </details>
  );
}

/** What the mouse can do, for the keyboard; and a new folder. */
function AddHere({
  root,
  save,
  folder,
  place,
  names,
}: FolderProps & { readonly save: (root: JsonObject) => void }): ReactNode {
  const { t } = useMessages();
  const [name, setName] = useState('');
  const label = textAt(folder, 'name', 'value');
  return (
    <li className="folder-add">
      <Select
        size="xs"
        searchable
        placeholder={t('directory.file')}
        aria-label={t('directory.fileIn', { name: label })}
        nothingFoundMessage={t('palette.nothing')}
        limit={50}
        data={[...names].map(([value, text]) => ({ value, label: text }))}
        value={null}
        onChange={(id) => {
          if (id !== null) save(withFiled(root, place, id));
        }}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') save(withFolder(root, place, name.trim()));
          setName('');
        }}
      >
        <TextInput
          size="xs"
          placeholder={t('directory.newFolder')}
          aria-label={t('directory.newFolderIn', { name: label })}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </form>
    </li>
  );
}
