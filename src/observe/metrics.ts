/** Metrics in Prometheus' format: states, codes and routes as labels, never a node. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** @param process_name label of everything this process tells */
export const createMetrics = (process_name: string) => {
  const registry = new Registry();
  registry.setDefaultLabels({ process: process_name });
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'temper_api_request_seconds',
    help: 'Time to answer API requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const policyAge = new Gauge({
    name: 'temper_policy_loaded_timestamp_seconds',
    help: 'When the rule set in force was loaded',
    registers: [registry],
  });
  return { registry, requests, policyAge };
};
