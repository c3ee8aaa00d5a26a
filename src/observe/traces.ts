/** Traces from a request to its BMC calls. OpenTelemetry is loaded only if enabled. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';

export type Traces = {
  readonly tracer: Tracer;
  /** Runs `work` in a span that ends with the response. */
  serve(request: IncomingMessage, response: ServerResponse, routeOf: () => string, work: () => void): void;
  /** Flushes and stops. */
  close(): Promise<void>;
};

export type TracesOptions = {
  readonly process_name: string;
  /** Base URL of an OTLP collector, such as http://localhost:4318. */
  readonly endpoint?: string;
  readonly exporter?: SpanExporter;
};

type Api = typeof import('@opentelemetry/api');

const exporterTo = async (endpoint: string): Promise<SpanExporter> => {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
};

/** Only once per process, because the context is global. */
export const startTraces = async ({ process_name, endpoint, exporter }: TracesOptions): Promise<Traces> => {
  const api = await import('@opentelemetry/api');
  const { BatchSpanProcessor, NodeTracerProvider, SimpleSpanProcessor } = await import('@opentelemetry/sdk-trace-node');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const processor = exporter ? new SimpleSpanProcessor(exporter) : new BatchSpanProcessor(await exporterTo(endpoint!));
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `temper-${process_name}` }),
    spanProcessors: [processor],
  });
  provider.register();
  const tracer = provider.getTracer('temper');
  const stop = traceRequests(api, tracer);
  return {
    tracer,
    serve: (request, response, routeOf, work) => serve(api, tracer, { request, response, routeOf, work }),
    async close() {
      stop();
      await provider.shutdown();
      api.trace.disable();
      api.context.disable();
      api.propagation.disable();
    },
  };
};

type Serving = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly routeOf: () => string;
  readonly work: () => void;
};

// Continues the caller's trace. Query and path are not recorded: they may contain confidential names.
const serve = (api: Api, tracer: Tracer, { request, response, routeOf, work }: Serving): void => {
  const parent = api.propagation.extract(api.context.active(), request.headers);
  const method = request.method ?? 'GET';
  const span = tracer.startSpan(
    method,
    { kind: api.SpanKind.SERVER, attributes: { 'http.request.method': method } },
    parent,
  );
  response.once('close', () => {
    span.updateName(`${method} ${routeOf()}`);
    span.setAttributes({ 'http.route': routeOf(), 'http.response.status_code': response.statusCode });
    if (response.statusCode >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  });
  api.context.with(api.trace.setSpan(parent, span), work);
};

// Messages of undici's channels: github.com/nodejs/undici docs/docs/api/DiagnosticsChannel.md
type Created = {
  readonly request: object & { readonly origin?: unknown; readonly method?: string; readonly path?: string };
};
type Answered = Created & { readonly response: { readonly statusCode: number } };
type Failed = Created & { readonly error: Error };

// The session name follows, and some BMCs accept it as a key.
const sessionName = /(\/Sessions\/)[^/]+/gi;

const attributesOf = ({ origin, method, path }: Created['request']): Attributes => ({
  'http.request.method': method ?? 'GET',
  'server.address': String(origin ?? ''),
  'url.path': (path ?? '').split('?', 1)[0]!.replace(sessionName, '$1…'),
});

/**
 * A span for each HTTP request within another span.
 * @returns stops it
 */
const traceRequests = (api: Api, tracer: Tracer): (() => void) => {
  const underway = new WeakMap<object, Span>();
  const end = (request: object, last: (span: Span) => void): void => {
    const span = underway.get(request);
    if (!span) return;
    underway.delete(request);
    last(span);
    span.end();
  };
  const begin = ({ request }: Created, within: Context): void => {
    if (!api.trace.getSpan(within)) return;
    const attributes = attributesOf(request);
    const name = `${request.method ?? 'GET'} ${attributes['url.path']}`;
    underway.set(request, tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, within));
  };
  const failed = { code: api.SpanStatusCode.ERROR };
  const listeners: Readonly<Record<string, (message: unknown) => void>> = {
    'undici:request:create': (message) => begin(message as Created, api.context.active()),
    'undici:request:headers': (message) => {
      const { request, response } = message as Answered;
      end(request, (span) => {
        span.setAttribute('http.response.status_code', response.statusCode);
        if (response.statusCode >= 400) span.setStatus(failed);
      });
    },
    'undici:request:error': (message) => {
      const { request, error } = message as Failed;
      end(request, (span) => span.setStatus({ ...failed, message: error.name }));
    },
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
  };
};
