import './query.css';
import { Text } from '@mantine/core';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Edit } from '@everchart/aql';
import { CdrError } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { dashboardView, useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { useKept } from '../../widgets/use-kept.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { formatted } from './editor/aql-assistance.js';
import { QueryBuilder } from './builder/QueryBuilder.js';
import { AqlEditor } from './editor/AqlEditor.js';
import type { KnownTemplates } from './editor/known-templates.js';
import { mistakeIn, parameterNames } from './parameters.js';
import { requestOf } from './request-of.js';
import { Parameters } from './Parameters.js';
import { PathPicker } from './editor/PathPicker.js';
import { useQueryHistory } from './QueryHistory.js';
import { QueryToolbar } from './QueryToolbar.js';
import { MOST_ROWS } from './result/result-columns.js';
import { ResultView } from './result/ResultView.js';
import { useRuns, type Runs } from './use-runs.js';
import { useKnownTemplates } from './editor/use-known-templates.js';

/** What an empty editor begins with: a query that every store answers. */
const FIRST_QUERY = `SELECT c/context/start_time/value AS time, c/name/value AS name,
       c/archetype_details/template_id/value AS template
FROM EHR e CONTAINS COMPOSITION c
ORDER BY c/context/start_time/value DESC`;

/** Writes and runs AQL. */
export function QueryPage(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const [text, setText, keepInAddress] = useText(address.q);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [asOf, setAsOf] = useState('');
  const runs = useRuns();
  const templates = useKnownTemplates();
  const known = { text, catalogue: templates?.catalogue ?? null };
  const [edit, setEdit] = useState<Edit | null>(null);
  const [isPicking, setIsPicking] = useState(false);
  const closePaths = (): void => setIsPicking(false);
  const [isBuilding, setIsBuilding] = useState(false);
  const { write, format, unreadable } = useFormat(text, setText);
  const names = parameterNames(text);
  const request = requestOf({ text, values, asOf, most: MOST_ROWS });
  const { history, remember } = useQueryHistory();
  const act = (what: Runs['run'], sent = request): void => {
    keepInAddress(text);
    // Once: whoever comes back to the page did not ask for it again.
    change({ q: text, explain: undefined });
    remember(text);
    what(sent);
  };
  const changeAsOf = (time: string, isChosen: boolean): void => {
    setAsOf(time);
    // Whoever looks at rows, or waits for them, sees how they were.
    if (isChosen && runs.last === 'rows')
      act(runs.run, requestOf({ text, values, asOf: time, most: MOST_ROWS }));
  };
  const isExplained = address['explain'] === 'yes';
  useOnce(isExplained && names.length === 0, () => act(runs.explain));
  const mistake = useMistake(runs.error, runs.asked);
  return (
    <Page title={t('nav.query')} actions={<ViewLink view={dashboardView()}>{t('nav.dashboards')}</ViewLink>}>
      <div className={isPicking ? 'beside-paths' : undefined}>
        <QueryToolbar
          text={text}
          request={request}
          onChoose={write}
          onFormat={format}
          onRun={() => act(runs.run)}
          onExplain={() => act(runs.explain)}
          onCancel={runs.cancel}
          isBuilding={isBuilding}
          onBuild={() => setIsBuilding((before) => !before)}
          onPick={() => setIsPicking((before) => !before)}
          isRunning={runs.isRunning}
          asOf={asOf}
          onAsOf={changeAsOf}
          history={history}
          values={Object.fromEntries(names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])))}
        />
        <AqlEditor
          text={text}
          onChange={write}
          onRun={() => act(runs.run)}
          onFormat={format}
          mistake={mistake}
          templates={templates}
          edit={edit}
          label={t('query.editor')}
        />
        {isPicking && <PathPicker {...known} onEdit={setEdit} onReplace={write} close={closePaths} />}
        {isBuilding && <QueryBuilder {...known} onChange={write} />}
        <EditorNotes unreadable={unreadable} templates={templates} />
        <Parameters
          names={names}
          values={values}
          onChange={setValues}
          onEnter={() => act(isExplained ? runs.explain : runs.run)}
        />
        <Answer runs={runs} />
      </div>
    </Page>
  );
}

/** The text of the editor, which is there again when the page is, also where it was not run; another one when the address says so. */
function useText(addressed: string | undefined) {
  const [text, setText] = useKept(KEPT_TEXT, FIRST_QUERY, addressed);
  // What the page itself put into the address may be written on already when it is there.
  const own = useRef(addressed);
  useEffect(() => {
    if (addressed === undefined || addressed === own.current) return;
    own.current = addressed;
    setText(addressed);
  }, [addressed]);
  const keepInAddress = (sent: string): void => {
    own.current = sent;
  };
  return [text, setText, keepInAddress] as const;
}

/** A slow query that the overview names: one without values is explained at once, one with them as soon as they are there. */
function useOnce(isWanted: boolean, work: () => void): void {
  useEffect(() => {
    if (isWanted) work();
    // When the page is opened.
  }, []);
}

function Answer({ runs }: { readonly runs: Runs }): ReactNode {
  const { t } = useMessages();
  const { isRunning, error, rows, explanation, last } = runs;
  const isShown = !isRunning && error === null;
  return (
    <div className="below">
      {isRunning && <Loading rows={8} />}
      {error !== null && <Failure error={error} />}
      {isShown && (rows ?? explanation) !== undefined && (
        <ResultView
          key={last}
          rows={rows}
          explanation={explanation}
          first={last === 'explain' ? 'explain' : 'table'}
        />
      )}
      {last === null && <Empty title={t('query.empty')}>{t('query.emptyHint')}</Empty>}
    </div>
  );
}

/** Of the text of the editor. */
const KEPT_TEXT = ['query-text'];

/** Lays the text out, or says why it cannot be read until it is changed. */
function useFormat(text: string, setText: (text: string) => void) {
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const write = (next: string): void => {
    setUnreadable(null);
    setText(next);
  };
  const format = (): void => {
    const laidOut = formatted(text);
    if (laidOut.text === null) setUnreadable(laidOut.why);
    else write(laidOut.text);
  };
  return { write, format, unreadable };
}

function EditorNotes({
  unreadable,
  templates,
}: {
  readonly unreadable: string | null;
  readonly templates: KnownTemplates | null;
}): ReactNode {
  const { t } = useMessages();
  return (
    <>
      {unreadable !== null && (
        <Text className="flag" role="alert">
          {unreadable}
        </Text>
      )}
      {templates !== null && templates.known < templates.all && (
        <Text size="xs" c="dimmed" className="number">
          {t('query.templatesRead', { known: templates.known, all: templates.all })}
        </Text>
      )}
    </>
  );
}

/** Where the server found a mistake in the text that it was sent. */
function useMistake(error: Error | null, text: string | undefined) {
  const message = error instanceof CdrError ? error.message : null;
  return useMemo(() => {
    const found = message === null ? null : mistakeIn(message);
    return found === null || text === undefined ? null : { ...found, text };
  }, [message, text]);
}
