import type { JsonObject } from '../../openehr/base/json.js';
import type { Work } from '../../openehr/base/work.js';
import type { PartialRm } from '../../openehr/rm/model/rm.js';
import type { IgnoredEvent } from '../../database/events.js';
import type { Settings } from '../../config/settings.js';
import type { RevisionText } from '../../models/definition/revision-in-use.js';
import type { CompileStored, TemplateInUse } from '../../models/definition/template.js';
import type { LargeComposition } from '../content/large-composition.js';
import type { QuestionTime } from '../terminology/value-sets.js';
import { commitClock } from './commit-clock.js';
import { keys } from './key-ring.js';

/** What every change needs beside its request. The clock is a value, so that tests can turn it back. */
export interface ChangeContext {
  readonly settings: ChangeSettings;
  /** Current time; versions never trust it to go forward. */
  readonly now: () => Date;
  /** Templates that one CONTRIBUTION has asked for already: all its COMPOSITIONs are validated by the same text. */
  readonly templates?: Map<string, Promise<TemplateInUse | null>>;
  /** The same for those that are validated in another thread, which needs the text. */
  readonly templateTexts?: Map<string, Promise<RevisionText | null>>;
  /** The revision of a template that the request names; all others are judged by their newest. */
  readonly pin?: RevisionPin;
  /** Takes what of the request was ignored, for the answer to name. */
  readonly warn?: (ignored: IgnoredEvent & { readonly text: string }) => void;
  /**
   * What the request may use, and how what needs more than the main thread may give is done in another: a COMPOSITION is
   * judged, a template compiled that is not kept any more. And how long a terminology server is asked for it.
   */
  readonly work?: {
    readonly budget: Work;
    readonly readElsewhere: (parsed: ParsedCanonical) => Promise<LargeComposition>;
    readonly compile: CompileStored;
    readonly questionTime: () => QuestionTime;
  };
  /** Of a large CONTRIBUTION: reads a COMPOSITION, given as JSON, in another thread; null when it is not large itself. */
  readonly readLarge?: (parsed: ParsedCanonical) => Promise<LargeComposition> | null;
  /** Of a CONTRIBUTION whose COMPOSITIONs are in a simplified form: reads one. */
  readonly readSimplified?: SimplifiedReader;
}

/** A revision of a template, by its number or digest. */
export interface RevisionPin {
  readonly templateId: string;
  readonly revision: string;
}

/** Reads a COMPOSITION in a simplified form, as it stands in `data` of a version. */
export type SimplifiedReader = (data: JsonObject) => Promise<PartialRm<'COMPOSITION'> | LargeComposition>;

/** Canonical JSON text of a COMPOSITION. */
export interface ParsedCanonical {
  readonly json: string;
  /** Lenient validation: unknown attributes are left out. */
  readonly leavesOut: boolean;
}

/** The settings that change control looks at. */
export type ChangeSettings = Pick<
  Settings,
  | 'systemId'
  | 'accessMode'
  | 'itsRest'
  | 'signing'
  | 'commitGroups'
  | 'aql'
  | 'maxCompositionBytes'
  | 'checkExtraNodes'
  | 'checkRmRules'
  | 'checkContainerCardinality'
  | 'acceptForeignSystemId'
  | 'committerMustBeUser'
  | 'terminology'
  | 'templateRevisions'
>;

/** The context of a running server. `SIGNING=pgp`: its key ring must be open, so that nothing is committed unsigned. */
export function changeContext(
  settings: ChangeSettings,
  now: () => Date = () => commitClock.now(),
): ChangeContext {
  if (settings.signing === 'pgp' && keys.ring === null)
    throw new Error('SIGNING=pgp: the key ring is not open');
  return { settings, now };
}
