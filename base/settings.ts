/** Everything the environment decides, validated once at start by `src/config.ts`. Times in ms, sizes in bytes. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Origin of generated links; null: taken from each request. */
  readonly publicBaseUrl: string | null;
  readonly systemId: string;
  readonly database: DatabaseSettings;
  readonly auth: 'none' | 'jwt';
  readonly jwt: JwtSettings;
  readonly adminApiActive: boolean;
  readonly adminAllowDeleteAll: boolean;
  readonly auditReads: boolean;
  readonly statusEndpoint: boolean;
  readonly managementEndpoints: readonly string[];
  readonly managementAccess: 'ADMIN_ONLY' | 'PRIVATE' | 'PUBLIC';
  readonly maxBodyBytes: number;
  /** Objects, arrays and values of JSON; elements and attributes of XML. */
  readonly maxBodyNodes: number;
  readonly maxCompositionBytes: number;
  readonly aql: AqlSettings;
  readonly checkExtraNodes: boolean;
  readonly checkRmRules: boolean;
  readonly checkContainerCardinality: boolean;
  readonly terminology: TerminologySettings;
  readonly preferMinimalUpdateStatus: 200 | 204;
  readonly ehrStatusAsRef: boolean;
  readonly acceptForeignSystemId: boolean;
  readonly apiAliasV1: boolean;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly rateLimitPerMinute: number | null;
  readonly maxConcurrentRequests: number | null;
  readonly slowQueryMs: number;
  readonly shutdownTimeoutMs: number;
  readonly clusterWorkers: number;
  readonly templateAllowOverwrite: boolean;
  readonly templateCacheSize: number;
  readonly mergeRetries: number;
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
  readonly issuer: string | null;
  readonly audience: string | null;
  readonly roleClaims: readonly string[];
  readonly clockToleranceSeconds: number;
  readonly roleUser: string;
  readonly roleAdmin: string;
}

/** Limits and choices of query execution; null = none. */
export interface AqlSettings {
  readonly defaultFetch: number | null;
  readonly maxFetch: number | null;
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  readonly subsumption: boolean;
  readonly leafIndex: 'all' | 'numeric' | 'none';
}

/** FHIR terminology server; `serverUrl` null = none. */
export interface TerminologySettings {
  readonly serverUrl: string | null;
  readonly timeoutMs: number;
  readonly failOnError: boolean;
}
