/** Other services of OpenStack, from settings. */
import { createServiceSession } from '../../identity';
import type { AskCompute } from '../../runs/power-notices';
import { serviceUserOf } from '../api/identity';
import type { ControlConfig } from '../settings/config';
import { ConfigFault } from '../settings/fault';

export type ComputeSettings = Parameters<typeof serviceUserOf>[0] &
  Pick<
    ControlConfig,
    | 'TEMPER_IDENTITY_URL'
    | 'TEMPER_NOVA_POWER_EVENTS'
    | 'TEMPER_NOVA_URL'
    | 'TEMPER_OPENSTACK_REGION'
    | 'TEMPER_OPENSTACK_INTERFACES'
  >;

/** Shorter than the lease of a notice. */
const timeoutMs = 30_000;

// 2.76 is the first version with power-update (nova/api/openstack/compute/schemas/server_external_events.py).
const headers = { 'content-type': 'application/json', 'openstack-api-version': 'compute 2.76' };

const needed = ['TEMPER_IDENTITY_URL', 'TEMPER_IDENTITY_USERNAME', 'TEMPER_IDENTITY_PASSWORD'] as const;

/** Undefined if Nova gets no events. @throws ConfigFault without an account */
export const computeFrom = (
  config: ComputeSettings,
): { readonly ask: AskCompute; close(): Promise<void> } | undefined => {
  if (!config.TEMPER_NOVA_POWER_EVENTS) return undefined;
  const missing = needed.filter((name) => config[name] === undefined);
  if (missing.length > 0)
    throw new ConfigFault(missing.map((name) => `${name}: is not set, and TEMPER_NOVA_POWER_EVENTS needs it.`));
  const session = createServiceSession({
    identityUrl: config.TEMPER_IDENTITY_URL!,
    self: serviceUserOf(config),
    region: config.TEMPER_OPENSTACK_REGION,
    interfaces: config.TEMPER_OPENSTACK_INTERFACES,
  });
  const service = { type: 'compute', url: config.TEMPER_NOVA_URL, version: 'v2.1', timeoutMs };
  return {
    ask: (body) => session.ask(service, { method: 'POST', path: '/os-server-external-events', headers, body }),
    close: () => session.close(),
  };
};
