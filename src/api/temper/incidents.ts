/** Incidents: visible nodes with a fault, by what they share and when it began, and who knows of them. */
import { z } from 'zod';
import { requesterOf } from '../../admission/requester';
import { visibleNode } from '../../admission/visibility';
import type { FaultyNode } from '../../inventory/incidents';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { type Faulty, type Incident, incidentsOf, mostIncidents } from '../../model/incidents';
import { maxMinor } from '../../model/resources/microversions';
import { nodeTarget, type Policy } from '../../policy';
import * as shapes from '../../wire/installation';
import { auditAndEvent } from '../audit/record';
import type { ApiContext } from '../context';
import { isoTime } from '../resource/times';
import { visibleNodes } from '../resource/visibility';
import { type ApiRequest, ok, route } from '../server/route';

const minuteMs = 60_000;

const incidentsQuery = z.strictObject({
  /** The longest time between two faults of one incident. Power sync takes minutes to find that a BMC is silent. */
  minutes: z
    .string()
    .regex(/^\d{1,4}$/, { error: 'must be a whole number of minutes' })
    .transform(Number)
    .refine((minutes) => minutes >= 1 && minutes <= 1440, { error: 'must be between 1 and 1440' })
    .default(10),
});
type IncidentsQuery = z.output<typeof incidentsQuery>;
type IncidentsRequest = ApiRequest<unknown, IncidentsQuery, unknown>;

const listRules = ['baremetal:node:list', 'baremetal:node:list_all', 'baremetal:node:get'];
const readRule = 'temper:acknowledgement:get';
const writeRule = 'temper:acknowledgement:create';

type Grouped = FaultyNode & Faulty;

const nodeView = ({ uuid, name, fault, fault_since, provision_state, owner, lessee }: FaultyNode, base: string) => ({
  uuid,
  name,
  fault,
  fault_since: isoTime(fault_since),
  provision_state,
  owner,
  lessee,
  links: { self: `${base}/v1/nodes/${uuid}` },
});

/** The newest of those that the caller may read, and how many nodes have one. */
const acknowledgementView = (nodes: readonly Grouped[], may: (node: FaultyNode) => boolean) => {
  const read = nodes.flatMap((node) => (node.acknowledgement && may(node) ? [node.acknowledgement] : []));
  const [newest] = read.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  if (!newest) return null;
  const { note, requester, at } = newest;
  return { count: read.length, note, requester, at: isoTime(new Date(at)) };
};

const incidentView = ({ shares, nodes }: Incident<Grouped>, { who, base }: IncidentsRequest, policy: Policy) => {
  const faults = new Map<string, number>();
  for (const { fault } of nodes) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const shared = Object.entries(shares).filter((pair): pair is [string, string] => pair[1] !== null);
  return {
    shares: Object.fromEntries(shared),
    count: nodes.length,
    since: isoTime(nodes[0]!.fault_since),
    until: isoTime(nodes.at(-1)!.fault_since),
    fault: Object.fromEntries(faults),
    acknowledged: acknowledgementView(nodes, (node) => policy.allows(readRule, who, nodeTarget(node))),
    nodes: nodes.slice(0, mostIncidents.nodes).map((node) => nodeView(node, base)),
  };
};

/** All that the caller may see, the largest first. */
const incidentsFor = async (ctx: ApiContext, who: Caller, minutes: number) => {
  const visible = visibleNodes(ctx.policy(), who);
  const found = await ctx.inventory.incidents.faulty(visible);
  const faults = found.slice(0, mostIncidents.faults).map((node) => ({ ...node, since: node.fault_since.getTime() }));
  const populations = faults.length > 1 ? await ctx.inventory.incidents.populations(visible) : [];
  const all = incidentsOf(faults, populations, minutes * minuteMs);
  return { all, faults: faults.length, isWhole: found.length === faults.length };
};

const listIncidents = async (request: IncidentsRequest, ctx: ApiContext): Promise<shapes.Incidents> => {
  const { all, faults, isWhole } = await incidentsFor(ctx, request.who, request.query.minutes);
  const policy = ctx.policy();
  return {
    incidents: all.slice(0, mostIncidents.incidents).map((incident) => incidentView(incident, request, policy)),
    faults,
    complete: isWhole && all.length <= mostIncidents.incidents,
  };
};

const acknowledgeBody = z.strictObject({
  /** Name or UUID of any node of the incident. */
  node: z.string().min(1).max(255),
  note: z.string().trim().min(1).max(1_000),
  /** As the list has it: faults that began later are not acknowledged. */
  until: z.iso
    .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-30T18:00:00Z' })
    .transform((text) => new Date(text)),
});
type AcknowledgeRequest = ApiRequest<unknown, IncidentsQuery, z.output<typeof acknowledgeBody>>;

/** The nodes of the incident of this node. Throws NodeNotFound, Conflict, PolicyDenied */
const nodesToAcknowledge = async ({ who, query, body }: AcknowledgeRequest, ctx: ApiContext) => {
  const policy = ctx.policy();
  const node = await visibleNode(ctx, { who, version: maxMinor }, body.node);
  policy.require(writeRule, who, nodeTarget(node));
  const { all } = await incidentsFor(ctx, who, query.minutes);
  const incident = all.find(({ nodes }) => nodes.some(({ uuid }) => uuid === node.uuid));
  const nodes = incident?.nodes.filter(({ fault_since }) => fault_since <= body.until) ?? [];
  for (const one of nodes) policy.require(writeRule, who, nodeTarget(one));
  return { node, nodes };
};

const recordedNodes = 30;

const acknowledge = async (request: AcknowledgeRequest, ctx: ApiContext) => {
  const { node, nodes } = await nodesToAcknowledge(request, ctx);
  const { note, until } = request.body;
  const count = await ctx.inventory.transaction(async (store) => {
    const known = await store.acknowledgements.put(nodes, { until, note, requester: requesterOf(request) });
    if (known.length === 0)
      raise('Conflict', { reason: `Node ${request.body.node} has no fault that began by ${until.toISOString()}.` });
    await auditAndEvent(store, ctx.policy(), request, {
      action: 'incident.acknowledge',
      kind: 'node.fault.acknowledged',
      rule: writeRule,
      resource: 'incident',
      resource_id: node.uuid,
      node,
      data: { reason: note, count: known.length, nodes: known.slice(0, recordedNodes) },
      // A tenant of one node reads neither the note nor the others.
      facts: {},
    });
    return known.length;
  });
  return ok({ acknowledged: count });
};

export const incidentRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/incidents',
    answers: { 200: shapes.incidents },
    rules: [...listRules, readRule],
    query: incidentsQuery,
    handler: async (request, ctx) => ok(await listIncidents(request, ctx)),
  }),
  route({
    method: 'POST',
    path: '/temper/v1/incidents/acknowledge',
    answers: { 200: shapes.acknowledged },
    rules: [...listRules, writeRule],
    query: incidentsQuery,
    body: acknowledgeBody,
    handler: acknowledge,
  }),
];
