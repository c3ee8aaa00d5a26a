/** Answer schemas of the installation: counts, events, recovery and console tickets. */
import { z } from 'zod';
import { summarized } from '../model/resources/summarized';
import { searchedFields } from '../model/search';
import { count, document, id, list, maybe, pageOf, person, text, time, trueOrFalse } from './parts';

export const consoleTicket = z.strictObject({ url: text, ticket: text, use_within_s: count, lasts_s: count });
export type ConsoleTicket = z.output<typeof consoleTicket>;

const counts = z.record(text, count);

const nodeCounts = { count, provision_state: counts, power_state: counts, fault: counts, maintenance: count };

export const summary = z.strictObject({
  nodes: z.strictObject(nodeCounts),
  runs: z.strictObject({ phase: counts }),
});
export type Summary = z.output<typeof summary>;

/** One row for each value of `by`, in their order; null for nodes without one, which comes last. */
export const summaryBy = z.strictObject({
  by: z.enum(summarized),
  groups: list(z.strictObject({ value: maybe, ...nodeCounts })),
  next: text.optional(),
});
export type SummaryBy = z.output<typeof summaryBy>;

const self = z.strictObject({ self: text });

/** A few objects of each kind whose names, addresses or ids begin with the text; `more` names the kinds of which there are others. */
export const found = z.strictObject({
  nodes: list(
    z.strictObject({
      uuid: id,
      name: maybe,
      provision_state: text,
      maintenance: trueOrFalse,
      fault: maybe,
      owner: maybe,
      lessee: maybe,
      matched: z.enum(searchedFields),
      value: text,
      links: self,
    }),
  ),
  runs: list(
    z.strictObject({ uuid: id, node_uuid: id, node_name: maybe, verb: text, runbook: maybe, state: text, links: self }),
  ),
  rollouts: list(z.strictObject({ uuid: id, name: maybe, verb: text, state: text, links: self })),
  runbooks: list(z.strictObject({ uuid: id, name: text, description: maybe, links: self })),
  projects: list(z.strictObject({ id: text, name: maybe })),
  more: list(z.enum(['nodes', 'runs', 'rollouts', 'runbooks'])),
});
export type Found = z.output<typeof found>;

const incident = z.strictObject({
  shares: z.strictObject({
    rack: text.optional(),
    power_feed: text.optional(),
    conductor_group: text.optional(),
    driver: text.optional(),
  }),
  count,
  /** When the first of its faults began, and the last. */
  since: time,
  until: time,
  fault: counts,
  /** The newest acknowledgement, and how many nodes have one; null if the caller may read none. */
  acknowledged: z.strictObject({ count, note: text, requester: person, at: time }).nullable(),
  /** The first ones. */
  nodes: list(
    z.strictObject({
      uuid: id,
      name: maybe,
      fault: text,
      fault_since: time,
      provision_state: text,
      owner: maybe,
      lessee: maybe,
      links: self,
    }),
  ),
});

/** The largest first. `faults` is the number of faulty nodes that were grouped; `complete` is false if there are more, or more incidents. */
export const incidents = z.strictObject({ incidents: list(incident), faults: count, complete: trueOrFalse });
export type Incidents = z.output<typeof incidents>;

/** The number of nodes. */
export const acknowledged = z.strictObject({ acknowledged: count });

/** The parts that a restore holds back, and the remedy. */
export const recovery = z.strictObject({
  recovery: z.strictObject({ side: z.enum(['store', 'engine', 'unknown']), reason: text, since: time }).nullable(),
  done: trueOrFalse,
  lines: list(text),
});
export type Recovery = z.output<typeof recovery>;

/** Of nodes, runs and rollouts, newest first. */
export const allEvents = pageOf(
  'events',
  z.strictObject({
    seq: count,
    at: time,
    kind: text,
    node_uuid: id.nullable(),
    run_uuid: id.nullable(),
    rollout_uuid: id.nullable(),
    data: document,
  }),
);
