import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { kindOf, placesOf } from './form-tree.js';
import { isGiven, withValues, type FlatValues } from './values.js';

/** What a new form begins with: what every document needs and nobody wants to type. */
export function emptyForm(
  template: WebTemplate,
  given: { readonly composer: string; readonly territory: string; readonly now: string },
): FlatValues {
  const { id } = template.tree;
  return withValues(
    {},
    {
      [`${id}/language|code`]: template.defaultLanguage,
      [`${id}/language|terminology`]: 'ISO_639-1',
      [`${id}/territory|code`]: given.territory,
      [`${id}/territory|terminology`]: 'ISO_3166-1',
      [`${id}/composer|name`]: given.composer,
      [`${id}/context/start_time`]: given.now,
      [`${id}/context/setting|code`]: '238',
    },
  );
}

/**
 * What is sent of a form. An interval with one bound is open at the other end. The uid of the document is left out:
 * a change makes a new version, and the address says of what.
 */
export function contentOf(template: WebTemplate, values: FlatValues): FlatValues {
  const changes: Record<string, boolean | undefined> = {};
  for (const [path, node] of placesOf(template, values))
    if (kindOf(node) === 'interval') Object.assign(changes, openEnds(values, path));
  return withValues(values, { ...changes, [`${template.tree.id}/_uid`]: undefined });
}

function openEnds(values: FlatValues, path: string): Record<string, true | undefined> {
  const [lower, upper] = [isGiven(values, `${path}/lower`), isGiven(values, `${path}/upper`)];
  return {
    [`${path}|lower_unbounded`]: upper && !lower ? true : undefined,
    [`${path}|upper_unbounded`]: lower && !upper ? true : undefined,
  };
}

/** A finding of the server about a form. */
export interface FormFinding {
  readonly flatPath?: string;
  readonly path: string;
  readonly message: string;
}

/** Findings by the place that they stand beside; under '' those that fit none. */
export function placeFindings<F extends FormFinding>(
  findings: readonly F[],
  places: ReadonlyMap<string, WebTemplateNode>,
  textOf: (finding: F) => string = ({ message }) => message,
): Map<string, string[]> {
  const known = new Map([...places.keys()].map((path) => [plain(path), path]));
  const [root = ''] = ([...known.keys()][0] ?? '').split('/');
  const placed = new Map<string, string[]>();
  for (const finding of findings) {
    const { flatPath, path } = finding;
    const message = textOf(finding);
    // What is missing altogether has no key, or one of the context: its path in the reference model says where it would stand.
    const key = flatPath === undefined || flatPath.startsWith('ctx/') ? root + path : flatPath;
    const at = placeOf(key, known);
    const text = at === '' && flatPath === undefined && path !== '' ? `${path}: ${message}` : message;
    placed.set(at, [...(placed.get(at) ?? []), text]);
  }
  return placed;
}

/** The place of a key, or the nearest one above it that is more than the whole document. */
function placeOf(flatPath: string, known: ReadonlyMap<string, string>): string {
  for (let at = plain(flatPath).replace(/\|.*$/, ''); at.includes('/'); at = at.replace(/\/[^/]*$/, '')) {
    const place = known.get(at);
    if (place !== undefined) return place;
  }
  return '';
}

/** A key as it is written without the index of the first occurrence, which may be left out. */
function plain(path: string): string {
  return path.replaceAll(/:0(?=\/|\||$)/g, '');
}
