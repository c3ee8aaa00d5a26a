/** Trace propagation to activities by headers only, so that workflows stay deterministic. */
import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';

// Header of @temporalio/interceptors-opentelemetry, as client and activities use it.
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
    // Not async: an await would change the execution order of workflows.
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
      },
    ],
  };
};
