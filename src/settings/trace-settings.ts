/** The standard variables of OpenTelemetry that decide here; all others its libraries read by themselves. */
type Environment = Readonly<Record<string, string | undefined>>;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;

/** Whether traces are sent: an endpoint is named, and nothing says that they are not wanted. */
export function areTracesSent(env: Environment): boolean {
  return (
    ENDPOINTS.some((name) => (env[name] ?? '') !== '') &&
    env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
    (env.OTEL_TRACES_EXPORTER ?? 'otlp') === 'otlp'
  );
}

/** An endpoint that is no URL, and a protocol that is not spoken here; nothing where no traces are sent. */
export function traceConflicts(env: Environment): string[] {
  if (!areTracesSent(env)) return [];
  return [
    ...ENDPOINTS.filter((name) => (env[name] ?? '') !== '' && !isWebAddress(env[name] ?? '')).map(
      (name) => `${name} must be a URL that begins with http:// or https://`,
    ),
    ...PROTOCOLS.filter((name) => env[name] === 'grpc').map(
      (name) =>
        `${name} is grpc, which is not spoken here: give the collector's address for HTTP, mostly port 4318`,
    ),
  ];
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
