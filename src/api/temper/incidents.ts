/** Incidents: visible nodes with a fault, by what they share and when it began. */
import { z } from 'zod';
import type { FaultyNode } from '../../inventory/incidents';
import { type Faulty, type Incident, incidentsOf, mostIncidents } from '../../model/incidents';
import * as shapes from '../../wire/installation';
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
type IncidentsRequest = ApiRequest<unknown, z.output<typeof incidentsQuery>, unknown>;

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

const incidentView = ({ shares, nodes }: Incident<Grouped>, base: string) => {
  const faults = new Map<string, number>();
  for (const { fault } of nodes) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const shared = Object.entries(shares).filter((pair): pair is [string, string] => pair[1] !== null);
  return {
    shares: Object.fromEntries(shared),
    count: nodes.length,
    since: isoTime(nodes[0]!.fault_since),
    until: isoTime(nodes.at(-1)!.fault_since),
    fault: Object.fromEntries(faults),
    nodes: nodes.slice(0, mostIncidents.nodes).map((node) => nodeView(node, base)),
  };
};

const listIncidents = async ({ who, query, base }: IncidentsRequest, ctx: ApiContext): Promise<shapes.Incidents> => {
  const visible = visibleNodes(ctx.policy(), who);
  const found = await ctx.inventory.incidents.faulty(visible);
  const faults = found.slice(0, mostIncidents.faults).map((node) => ({ ...node, since: node.fault_since.getTime() }));
  const populations = faults.length > 1 ? await ctx.inventory.incidents.populations(visible) : [];
  const all = incidentsOf(faults, populations, query.minutes * minuteMs);
  return {
    incidents: all.slice(0, mostIncidents.incidents).map((incident) => incidentView(incident, base)),
    faults: faults.length,
    complete: found.length === faults.length && all.length <= mostIncidents.incidents,
  };
};

export const incidentRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/incidents',
    answers: { 200: shapes.incidents },
    rules: ['baremetal:node:list', 'baremetal:node:list_all', 'baremetal:node:get'],
    query: incidentsQuery,
    handler: async (request, ctx) => ok(await listIncidents(request, ctx)),
  }),
];
