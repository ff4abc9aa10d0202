/** Everything the environment decides, validated once at start by `src/settings/config.ts`. Times in ms, sizes in bytes. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Origin of generated links; null: taken from each request. */
  readonly publicBaseUrl: string | null;
  /** Before the paths of all APIs but management: empty, or such as `/ehrbase`. */
  readonly basePath: string;
  readonly systemId: string;
  readonly database: DatabaseSettings;
  /** How users of the standard API identify themselves. */
  readonly auth: 'none' | 'jwt' | 'basic' | 'jwt,basic';
  /** true: `AUTH=none` is meant on a HOST that other machines reach. */
  readonly authNoneAnywhere: boolean;
  readonly jwt: JwtSettings;
  /** Where the console signs in; null: nowhere but here. */
  readonly oidc: OidcSettings | null;
  /** ISO 3166-1 code that new documents of the console have; null: the country of the browser's language. */
  readonly consoleTerritory: string | null;
  /** Minutes after which the console is locked for whoever touches nothing; null: never. */
  readonly consoleIdleMinutes: number | null;
  /** Paths of the ELEMENTs that say in the console who a patient is; empty: those of his EHR_STATUS. */
  readonly patientBannerPaths: readonly string[];
  /** Path of the file that `everchart user` writes; null: no users with passwords. */
  readonly basicUsersFile: string | null;
  readonly rolePermissions: RolePermissions;
  /** true: naming another committer than the user needs the permission `commit_for_others`. */
  readonly committerMustBeUser: boolean;
  readonly adminApiActive: boolean;
  readonly adminAllowDeleteAll: boolean;
  /** Whether one request may remove all EHRs. */
  readonly adminAllowDeleteAllEhrs: boolean;
  /** `dry`: policies of access are kept and tried, and refuse nothing; `observe`: the audit notes what they would hide; `enforce`: they hold. */
  readonly accessMode: 'off' | 'dry' | 'observe' | 'enforce';
  /** Whether that is said, and not what it is without. */
  readonly accessModeStated: boolean;
  /** What is answered for something that policies hide: what is not there is 404. */
  readonly accessRefused: '404' | '403';
  /** A refusal is answered so many milliseconds after its request began, or a multiple of that; 0: at once. */
  readonly accessRefusedMs: number;
  /** `on`: what a token may do is what its scopes of SMART on openEHR grant, where it has any; `required`: without any it may do nothing. */
  readonly smartScopes: 'off' | 'on' | 'required';
  /** Where applications sign in, and get their tokens; null: what the identity provider says. */
  readonly smartAuthorizationEndpoint: string | null;
  readonly smartTokenEndpoint: string | null;
  /** Who is asked about tokens that are no JWT; null: nobody. */
  readonly introspection: IntrospectionSettings | null;
  /** Policies of access that there may be. */
  readonly policiesMax: number;
  readonly auditReads: boolean;
  /** Years that records of the audit are kept at least; null: until somebody removes them. */
  readonly auditRetentionYears: number | null;
  readonly statusEndpoint: boolean;
  /** `ehrbase_version` of /rest/status; empty: no such member. */
  readonly statusEhrbaseVersion: string;
  readonly managementEndpoints: readonly string[];
  readonly managementAccess: 'ADMIN_ONLY' | 'PRIVATE' | 'PUBLIC';
  /** Port on which alone /management is served; null: it is served with everything else. */
  readonly managementPort: number | null;
  readonly maxBodyBytes: number;
  /** Of queries. */
  readonly maxQueryBytes: number;
  /** Bytes of bodies that may be under way at once. */
  readonly bodyBytes: { readonly process: number; readonly user: number; readonly address: number };
  /** How long a request may take to come in. */
  readonly receiveTimeoutMs: number;
  readonly maxConnections: number;
  /** Objects, arrays and values of JSON; elements and attributes of XML. */
  readonly maxBodyNodes: number;
  readonly maxCompositionBytes: number;
  /** What one request may use, all its parts together. */
  readonly work: WorkSettings;
  /** Transactions with commits that this process runs at the same time. */
  readonly commitGroups: number;
  readonly aql: AqlSettings;
  readonly checkExtraNodes: boolean;
  readonly checkRmRules: boolean;
  readonly checkContainerCardinality: boolean;
  /** `lenient`: content that breaks some rules may be accepted where an administrator asks for it. */
  readonly validation: 'strict' | 'lenient' | 'lenient-all';
  readonly terminology: TerminologySettings;
  /** Edition of ITS-REST that the standard API speaks; `openehr/base/dialect.ts` says what that changes. */
  readonly itsRest: '1.0.3' | '1.1.0';
  readonly preferMinimalUpdateStatus: 200 | 204;
  /** What a write answers that no `return=` of `Prefer` says anything about. */
  readonly preferDefault: 'minimal' | 'identifier' | 'representation';
  /** How VERSIONs are signed that a client has not signed. */
  readonly signing: 'none' | 'digest' | 'pgp';
  /** Armored keys of OpenPGP: the last private one signs, all of them verify; null: none. */
  readonly signingKeysFile: string | null;
  /** Of the private key that signs; null: it has none. */
  readonly signingKeyPassphrase: string | null;
  readonly ehrStatusAsRef: boolean;
  /** Of audits; true: also in the uid of a new COMPOSITION; null: not set, audits only. */
  readonly acceptForeignSystemId: boolean;
  readonly apiAliasV1: boolean;
  /** Unknown query parameters and body members are refused; of deletions and administration always. */
  readonly strictParameters: boolean;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Hosts, with or without port, that requests may name beside loopback ones. */
  readonly allowedHosts: readonly string[];
  /** Seconds that clients may keep a version that was read by its id; 0: not at all. */
  readonly versionCacheSeconds: number;
  readonly rateLimitPerMinute: number | null;
  /** Whether clients on this machine are exempt from it. */
  readonly rateLimitSparesLoopback: boolean;
  readonly maxConcurrentRequests: number | null;
  /** What a read or write may be expected to take behind those under way before it is refused; 0: whatever it takes. */
  readonly requestWaitMs: number;
  /** Whether CSV answers start with a byte order mark. */
  readonly csvBom: boolean;
  /** How often new records are sealed; 0: never. */
  readonly sealIntervalMs: number;
  readonly slowQueryMs: number;
  /** The variables of OpenTelemetry say where to. */
  readonly tracesSent: boolean;
  readonly shutdownTimeoutMs: number;
  readonly clusterWorkers: number;
  readonly templateAllowOverwrite: boolean;
  /** true: another text of a known template id is a revision, and each VERSION notes by which one it was judged. */
  readonly templateRevisions: boolean;
  readonly templateCacheSize: number;
  /** About how many bytes of compiled templates are kept. */
  readonly templateCacheBytes: number;
  readonly maxTemplateBytes: number;
  readonly mergeRetries: number;
  /** Days after which a merge is made final; null: never. */
  readonly mergeReversibleDays: number | null;
  /** true: a name space of stored queries belongs to who stored in it first. */
  readonly queryOwners: boolean;
  /** What waits until a second person confirms it. */
  readonly fourEyes: readonly FourEyesKind[];
  /** Days after which what waits for a second person lapses. */
  readonly fourEyesDays: number;
  /** Paths of ELEMENT values in which EHRs of one person agree; docs/spec/merge.md#candidates */
  readonly mergeCandidatePaths: readonly string[];
  /** An EHR with more versions is merged in steps. */
  readonly mergeStepsFrom: number;
  /** `Z` or `±hh:mm` or an IANA name: zone of times given without one. */
  readonly defaultTimezone: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

/** Which MongoDB is used (README, "The database"). */
export interface DatabaseSettings {
  /** Empty: a local database. */
  readonly mongodbUri: string;
  readonly mongodbDatabase: string;
  readonly localDatabase: 'auto' | 'mongod' | 'embedded';
  /** Path of a mongod binary; empty: searched. */
  readonly mongodBinary: string;
  /** Folder of the embedded database, or `temporary`. */
  readonly embeddedDataDir: string;
  /** Memory of the embedded database for its data, in GiB; null: by the machine's memory. */
  readonly embeddedCacheSizeGB: number | null;
  /** How long a write waits for others before it, in milliseconds. */
  readonly writeWaitMs: number;
}

/** An identity provider and the public client that the console is there. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
}

/** Where tokens are introspected (RFC 7662), and as whom. */
export interface IntrospectionSettings {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How tokens are checked. At most one of the three keys is set. */
export interface JwtSettings {
  readonly secret: string | null;
  readonly publicKey: string | null;
  readonly jwksUrl: string | null;
  readonly algorithms: readonly (
    | 'HS256'
    | 'HS384'
    | 'HS512'
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
  )[];
  /** `any` or null: whoever made a token. Null only with a secret. */
  readonly issuer: string | null;
  /** `any` or null: whomever a token was made for. Null only with a secret. */
  readonly audience: string | null;
  readonly roleClaims: readonly string[];
  /** Claims that policies of access may ask for. */
  readonly claimOrganisation: string;
  readonly claimEhr: string;
  readonly claimOwnEhr: string;
  readonly claimPurpose: string;
  /** Values of it beside the codes of HL7. */
  readonly otherPurposes: readonly string[];
  readonly clockToleranceSeconds: number;
  /** What tokens may call themselves (`typ`), in lower case. */
  readonly types: readonly string[];
  /** Seconds that a token may be valid for in all; null: as long as its issuer says. */
  readonly maxLifetimeSeconds: number | null;
  readonly roleUser: string;
  readonly roleAdmin: string;
}

/** What one request may use but the time of a query: `WorkBudget` says of each what it is. */
interface WorkSettings {
  readonly steps: number;
  readonly compileSteps: number;
  readonly expressionNodes: number;
  readonly patternSteps: number;
  readonly valueSteps: number;
  readonly tuples: number;
  readonly resultBytes: number;
  readonly versions: number;
  readonly terminologyQuestions: number;
  readonly bodyHeapMiB: number;
  readonly translatorHeapMiB: number;
  readonly evaluatorHeapMiB: number;
  readonly bodyTimeMs: number;
}

/** Limits and choices of query execution; null = none. */
interface AqlSettings {
  readonly defaultFetch: number | null;
  readonly maxFetch: number | null;
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  /** Queries of one user that run at once. */
  readonly maxPerUser: number;
  /** How long an answer that is streamed may take in all. */
  readonly streamTimeoutMs: number;
  /** How long a reader may take nothing of an answer. */
  readonly streamIdleMs: number;
  /** How long commits wait at most, on the embedded engine, for each part of an answer that is streamed. */
  readonly streamHoldMs: number;
  readonly subsumption: boolean;
  readonly leafIndex: 'all' | 'numeric' | 'none';
}

/** FHIR terminology server; `serverUrl` null = none. */
export interface TerminologySettings {
  readonly serverUrl: string | null;
  readonly timeoutMs: number;
  readonly failOnError: boolean;
}

/** What two persons can be asked for, in the order of the documentation. */
export const FOUR_EYES_KINDS = ['merge', 'move', 'erase', 'finalise', 'policy'] as const;

/** A kind of administration that takes two persons where `FOUR_EYES` names it. docs/spec/merge.md#approval */
export type FourEyesKind = (typeof FOUR_EYES_KINDS)[number];

/** Everything that a role can allow, in the order of the documentation. */
export const PERMISSIONS = [
  'read',
  'write',
  'define',
  'draft',
  'audit',
  'admin',
  'commit_for_others',
  'write_lenient',
  'restore',
  'emergency',
] as const;

/**
 * What a user may do: read and write clinical data, define templates and stored queries, keep what he has not committed
 * yet, see who did what, administrate, name somebody else as committer, write what breaks rules, write records as they were made
 * elsewhere, break the glass in an emergency.
 */
export type Permission = (typeof PERMISSIONS)[number];

/** Permissions by upper-cased name of the role. */
export type RolePermissions = Readonly<Record<string, readonly Permission[]>>;
