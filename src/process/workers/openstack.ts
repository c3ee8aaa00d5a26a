/** Other services of OpenStack, from settings. */
import type { AskCompute } from '../../runs/power-notices';
import { type SessionSettings, sessionFrom } from '../openstack';
import type { ControlConfig } from '../settings/config';

export type ComputeSettings = SessionSettings & Pick<ControlConfig, 'TEMPER_NOVA_POWER_EVENTS' | 'TEMPER_NOVA_URL'>;

/** Shorter than the lease of a notice. */
const timeoutMs = 30_000;

// 2.76 is the first version with power-update (nova/api/openstack/compute/schemas/server_external_events.py).
const headers = { 'content-type': 'application/json', 'openstack-api-version': 'compute 2.76' };

/** Undefined if Nova gets no events. @throws ConfigFault without an account */
export const computeFrom = (
  config: ComputeSettings,
): { readonly ask: AskCompute; close(): Promise<void> } | undefined => {
  if (!config.TEMPER_NOVA_POWER_EVENTS) return undefined;
  const session = sessionFrom(config, 'TEMPER_NOVA_POWER_EVENTS');
  const service = { type: 'compute', url: config.TEMPER_NOVA_URL, version: 'v2.1', timeoutMs };
  return {
    ask: (body) => session.ask(service, { method: 'POST', path: '/os-server-external-events', headers, body }),
    close: () => session.close(),
  };
};
