/** Hands the caller's trace on to the activities of a run: headers only, so that no workflow runs differently for it. */
import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';

// As @temporalio/interceptors-opentelemetry calls it, in whose form client and activities write and read it.
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
    // Not async: an interceptor that waits would change the order in which workflows go on.
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
      },
    ],
  };
};
