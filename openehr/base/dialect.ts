import type { ErrorCode, Refusal } from './errors.js';

/** The editions of ITS-REST that a server can speak; the first is the default. `ITS_REST` names one of them. */
export const ITS_REST_EDITIONS = ['1.0.3', '1.1.0'] as const;

/** An edition of ITS-REST. */
export type ItsRest = (typeof ITS_REST_EDITIONS)[number];

/**
 * What one edition says otherwise than the other. Every difference is a member here, and nothing else asks which edition
 * is spoken: docs/decisions/0048-dialects.md
 */
export interface Dialect {
  /** Entity tags are written `W/"…"`. */
  readonly isTagWeak: boolean;
  /** `Location` stands only where something new was made: it is where that is. */
  readonly isLocationOfNewOnly: boolean;
  /** `Preference-Applied` stands on every answer to a request with `Prefer`; else where something of it was honoured. */
  readonly isPreferenceAlwaysTold: boolean;
  /** A versioned object and its history have `Last-Modified` too: when the latest version was committed. */
  readonly isObjectDated: boolean;
  /** What an update without a body is answered with unless `PREFER_MINIMAL_UPDATE_STATUS` says so. */
  readonly minimalUpdateStatus: 200 | 204;
  /** Refusals that have another code than the one they are thrown with. */
  readonly refusals: Readonly<Partial<Record<Refusal, ErrorCode>>>;
  /** Of an EHR_STATUS that is sent, nothing that is absent is filled in, and it is the root of an archetype. */
  readonly isStatusTakenAsSent: boolean;
  /** The `system_id` of an audit is stored as the client gives it. */
  readonly isSystemOfClientKept: boolean;
  /** A query that is stored without a version takes the place of version 1.0.0; else it is the next major version. */
  readonly isUnversionedQueryReplaced: boolean;
  /** A list of templates that asks for no version has the latest of each only. */
  readonly isTemplateListOfLatest: boolean;
  /** What `OPTIONS` says of openEHR's conformance profiles: docs/conformance.md. */
  readonly conformanceProfile: 'CORE' | 'STANDARD';
  /** Paths of the released interface that the other edition does not have: administration, demographics. */
  readonly hasReleasedPaths: boolean;
}

/** What each edition says. */
export const DIALECTS: Readonly<Record<ItsRest, Dialect>> = {
  '1.0.3': {
    isTagWeak: false,
    isLocationOfNewOnly: false,
    isPreferenceAlwaysTold: false,
    isObjectDated: false,
    minimalUpdateStatus: 200,
    refusals: {},
    isStatusTakenAsSent: false,
    isSystemOfClientKept: false,
    isUnversionedQueryReplaced: false,
    isTemplateListOfLatest: false,
    conformanceProfile: 'STANDARD',
    hasReleasedPaths: false,
  },
  '1.1.0': {
    isTagWeak: true,
    isLocationOfNewOnly: true,
    isPreferenceAlwaysTold: true,
    isObjectDated: true,
    minimalUpdateStatus: 204,
    // 400: it could not be made a resource; 422: it could, and is not valid.
    refusals: {
      'lacking-attribute': 'invalid',
      'broken-rule': 'unprocessable',
      'other-template': 'unprocessable',
      'template-text': 'unprocessable',
      'item-tag': 'unprocessable',
      'no-directory': 'not-found',
    },
    isStatusTakenAsSent: true,
    isSystemOfClientKept: true,
    isUnversionedQueryReplaced: true,
    isTemplateListOfLatest: true,
    conformanceProfile: 'CORE',
    hasReleasedPaths: true,
  },
};
