/** Trace propagation to the activities of a run. It uses headers only, so that workflows stay deterministic. */
import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';

// Header name of @temporalio/interceptors-opentelemetry, which client and activities use.
const traceHeader = '_tracer-data';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let carried: Headers = {};
  return {
    inbound: [
      {
        execute(input, next) {
          const trace = input.headers[traceHeader];
          if (trace) carried = { [traceHeader]: trace };
          return next(input);
        },
      },
    ],
    // Not async: an await in an interceptor would change the execution order of workflows.
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
      },
    ],
  };
};
