/** Firmware baselines of requests: the steps that update differing firmware, and their checks. */

import { invalidInput } from '../model/errors';
import { type FirmwareDrift, firmwareDrift } from '../model/resources/firmware-baselines';
import { nodeTarget } from '../policy';
import type { Admission, ProvisionAsked, WantedVerb } from './request';
import { factsOf } from './requested-steps';
import { stepKeys } from './verbs';

/** The rule comes before the comparison of versions, because a difference reveals them. */
export const readsFirmware = 'baremetal:node:firmware:get';

const updateOf = (drift: readonly FirmwareDrift[]) => ({
  interface: 'firmware' as const,
  step: 'update',
  args: { settings: drift.map(({ component, url }) => ({ component, url })) },
});

/**
 * The firmware that differs from the request's baseline; undefined without a baseline or after a collected refusal.
 * Throws PolicyDenied, FirmwareCurrent, InvalidInput.
 */
export const driftOf = async ({
  ctx,
  request: { who, body },
  node,
  ident,
  checks,
}: Admission): Promise<FirmwareDrift[] | undefined> => {
  const baseline = body.temper?.baseline;
  if (!baseline) return undefined;
  checks.rule(ctx.policy(), readsFirmware, who, nodeTarget(node));
  if (!ctx.policy().allows(readsFirmware, who, nodeTarget(node))) return undefined;
  const seen = await ctx.inventory.details.firmware(node.uuid);
  return checks.try(() => firmwareDrift(baseline, factsOf(node), seen, ident));
};

/** The request with the steps of its baseline, which follow the rules of the caller's own steps. Throws InvalidInput. */
export const withBaseline = async (admission: Admission, { row, verb }: WantedVerb): Promise<ProvisionAsked> => {
  const { request } = admission;
  const { body } = request;
  if (!body.temper?.baseline) return request;
  if (!row.runbook || !row.stepsKey)
    return invalidInput('temper.baseline', `is not possible with ${verb}, only with clean and service`);
  if (body.runbook !== undefined || stepKeys.some((key) => body[key] !== undefined))
    return invalidInput('temper.baseline', 'comes without a runbook and without steps');
  const drift = (await driftOf(admission)) ?? [];
  return { ...request, body: { ...body, [row.stepsKey]: drift.length > 0 ? [updateOf(drift)] : [] } };
};
