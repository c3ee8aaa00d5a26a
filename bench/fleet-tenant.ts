/** A tenant of a fleet who lists its nodes and switches one off and on, over and over, whatever goes on around it. */
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from './stats';
import type { Signed, System } from './system';

/** Milliseconds: of a list, and of a power request until the node shows what was asked for. */
export type TenantTimes = { readonly list: readonly number[]; readonly power: readonly number[] };
export type TenantFigures = {
  readonly lists: number;
  readonly list_p50: number;
  readonly list_p99: number;
  readonly switches: number;
  readonly power_p50: number;
  readonly power_p99: number;
};

export type Tenant = { readonly signed: Signed; readonly node: string; readonly nodes: number };

const betweenMs = 100;
const withinMs = 120_000;

const asked = async (system: System, { signed }: Tenant, method: string, path: string, body?: object) => {
  const sent = body && { body: JSON.stringify(body) };
  const reply = await fetch(`${system.api}${path}`, { method, headers: signed.headers, ...sent });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path} of the tenant answered ${reply.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};

const list = async (system: System, tenant: Tenant): Promise<number> => {
  const began = performance.now();
  const { nodes } = await asked(system, tenant, 'GET', '/v1/nodes');
  if (nodes.length !== tenant.nodes) throw new Error(`the tenant sees ${nodes.length} nodes of ${tenant.nodes}`);
  return performance.now() - began;
};

const powerPath = ({ node }: Tenant): string => `/v1/nodes/${node}/states/power`;

const switched = async (system: System, tenant: Tenant, to: 'power off' | 'power on'): Promise<number> => {
  const began = performance.now();
  await asked(system, tenant, 'PUT', powerPath(tenant), { target: to });
  while (performance.now() - began < withinMs) {
    const shown = await asked(system, tenant, 'GET', `/v1/nodes/${tenant.node}/states`);
    if (shown.power_state === to && shown.target_power_state === null) return performance.now() - began;
    await pause(20);
  }
  throw new Error(`the tenant's node did not reach ${to}`);
};

/** Until it is over: five lists, then a switch. */
export const tenantTimes = async (
  system: System,
  tenant: Tenant,
  isOver: (times: TenantTimes) => boolean,
): Promise<TenantTimes> => {
  const times = { list: [] as number[], power: [] as number[] };
  while (!isOver(times)) {
    for (let at = 0; at < 5; at++) {
      times.list.push(await list(system, tenant));
      await pause(betweenMs);
    }
    times.power.push(await switched(system, tenant, times.power.length % 2 === 0 ? 'power on' : 'power off'));
  }
  return times;
};

export const tenantFigures = ({ list: lists, power }: TenantTimes): TenantFigures => ({
  lists: lists.length,
  list_p50: percentile(lists, 0.5),
  list_p99: percentile(lists, 0.99),
  switches: power.length,
  power_p50: percentile(power, 0.5),
  power_p99: percentile(power, 0.99),
});
