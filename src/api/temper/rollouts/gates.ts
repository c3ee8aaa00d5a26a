/** Gates of rollouts: webhooks and metrics of the installation. */
import type { Caller } from '../../../model/access/callers';
import { invalidInput, raise } from '../../../model/errors';
import type { RolloutSpec } from '../../../model/rollouts/spec';
import type { ApiContext } from '../../context';

/** Gates show answers of the installation's services and metrics of all projects, so they need the rule of webhooks. */
export const gateRule = 'temper:webhook:get';

/** Throws PolicyDenied, WebhookNotFound, InvalidInput. */
export const requireGates = async (
  ctx: ApiContext,
  who: Caller,
  { waves, guard }: Pick<RolloutSpec, 'waves' | 'guard'>,
): Promise<void> => {
  const gates = [guard, ...waves.map(({ gate }) => gate)].filter((gate) => gate !== undefined);
  if (gates.length === 0) return;
  ctx.policy().require(gateRule, who);
  for (const gate of gates) {
    if (!('webhook' in gate)) continue;
    const found = await ctx.inventory.webhooks.find(gate.webhook);
    if (!found || found.project !== null) raise('WebhookNotFound', { webhook: gate.webhook });
    if (!found!.enabled) invalidInput('gate', `names webhook ${gate.webhook}, which is disabled`);
  }
};
