/** Counters, and by settings also traces and Temporal's metrics. */
import type { ClientInterceptors } from '@temporalio/client';
import type { ActivityInterceptorsFactory, RuntimeOptions } from '@temporalio/worker';
import type { Metrics } from '../observe/metrics';
import { activityCounter } from '../observe/runs';
import { startTraces, type Traces } from '../observe/traces';
import type { Life } from './process';

type ObservingSettings = { TEMPER_OTLP_ENDPOINT?: string };

export const tracesFrom = async (
  process_name: string,
  { TEMPER_OTLP_ENDPOINT: endpoint }: ObservingSettings,
  life: Pick<Life, 'onEnd'>,
): Promise<Traces | undefined> => {
  if (!endpoint) return undefined;
  const traces = await startTraces({ process_name, endpoint });
  life.onEnd(() => traces.close());
  return traces;
};

/** Propagates the request's trace into the run that it starts. */
export const clientInterceptors = async (traces: Traces | undefined): Promise<ClientInterceptors | undefined> => {
  if (!traces) return undefined;
  const { OpenTelemetryWorkflowClientInterceptor } = await import('@temporalio/interceptors-opentelemetry');
  return { workflow: [new OpenTelemetryWorkflowClientInterceptor({ tracer: traces.tracer })] };
};

/** Counts activities and adds spans to the request's trace. */
export const activityInterceptors = async (
  metrics: Metrics,
  traces: Traces | undefined,
): Promise<ActivityInterceptorsFactory[]> => {
  const count = activityCounter(metrics);
  const counted: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: { execute: (input, next) => count({ activity: info.activityType, work: () => next(input) }) },
  });
  if (!traces) return [counted];
  const { OpenTelemetryActivityInboundInterceptor } = await import('@temporalio/interceptors-opentelemetry');
  const { tracer } = traces;
  return [counted, (context) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(context, { tracer }) })];
};

/** Temporal SDK metrics on their own port. */
export const engineTelemetry = (address: string | undefined): Pick<RuntimeOptions, 'telemetryOptions'> =>
  address ? { telemetryOptions: { metrics: { prometheus: { bindAddress: address } } } } : {};
