// The only file that loads OpenTelemetry, itself loaded only where traces are sent. The build makes one file of it and of the
// part of the libraries that it uses (scripts/build.mjs): installed they would be as large as a third of the server.
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/**
 * A tracer that sends by OTLP over HTTP. Where to, how much, under which name: the libraries read the variables of
 * OpenTelemetry's specification (`OTEL_*`) themselves.
 * @param {import('./span.js').TracerParts} parts
 * @returns {import('./span.js').Tracer}
 */
export function createTracer({ version, instance, onFailure }) {
  setGlobalErrorHandler(onFailure);
  const own = { 'service.name': 'everchart', 'service.version': version, 'service.instance.id': instance };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('everchart', version);
  const propagator = new W3CTraceContextPropagator();
  const contexts = new WeakMap();
  const begin = (name, options, parent) => {
    const span = tracer.startSpan(name, options, parent);
    const open = openSpan(span);
    contexts.set(open, trace.setSpan(parent, span));
    return open;
  };
  return {
    server: (name, headers) =>
      begin(name, { kind: SpanKind.SERVER }, propagator.extract(ROOT_CONTEXT, headers, HEADERS)),
    client: (name, parent, attributes) =>
      begin(name, { kind: SpanKind.CLIENT, attributes }, contexts.get(parent) ?? ROOT_CONTEXT),
    close: () => provider.shutdown(),
  };
}

const HEADERS = { keys: (headers) => Object.keys(headers), get: (headers, name) => headers[name] };

function openSpan(span) {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    mark: (marks) => void span.setAttributes(marks),
    rename: (name) => void span.updateName(name),
    end: (failure) => {
      if (failure !== null) {
        span.setAttribute('error.type', failure);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}
