/** The API's policy in force, and an optional shadow policy. */
import { countedPolicy } from '../../observe/hooks';
import type { Logger } from '../../observe/log';
import type { Metrics } from '../../observe/metrics';
import { createShadow, type Policy, type Shadow } from '../../policy';
import type { ApiConfig, ControlConfig } from '../settings/config';
import { holdPolicy, type PolicyHolder, type PolicyRest, type Watching } from './policy';
import { openRemote } from './policy-remote';

type PolicyConfig = Pick<ApiConfig, keyof ApiConfig & keyof ControlConfig & `TEMPER_POLICY_${string}`>;
type PolicyDeps = { readonly log: Logger; readonly metrics: Metrics };

/** `shadow` counts differing decisions of the second policy. */
export type ApiPolicy = PolicyHolder & { readonly shadow?: () => Shadow };

const restOf = (config: PolicyConfig): PolicyRest & { close: () => void } => {
  const { TEMPER_POLICY_REMOTE_ORIGINS: remotes, TEMPER_POLICY_REMOTE_TIMEOUT_MS: timeoutMs } = config;
  const remote = remotes.length > 0 ? openRemote({ origins: remotes, timeoutMs }) : undefined;
  return {
    mode: config.TEMPER_POLICY_MODE,
    newDefaults: config.TEMPER_POLICY_NEW_DEFAULTS,
    elevatedServiceProject: config.TEMPER_POLICY_SERVICE_PROJECT ?? null,
    ...(remote && { remote: remote.ask }),
    close: () => remote?.close(),
  };
};

/** A reload restarts its counts. */
const holdShadow = (config: PolicyConfig, rest: PolicyRest, { log, metrics }: PolicyDeps) => {
  const { TEMPER_POLICY_SHADOW_FILE: file, TEMPER_POLICY_SET: set } = config;
  if (!file) return undefined;
  const setting = 'TEMPER_POLICY_SHADOW_FILE';
  const held = holdPolicy(set, file, { log, onLoad: () => {}, setting }, rest);
  const countOf = (policy: Policy): Shadow =>
    createShadow(policy, {
      now: () => new Date(),
      onNew: ({ rule, would, scope, roles }) => log.warn('the shadow policy differs', { rule, would, scope, roles }),
      onDifference: (rule, would) => metrics.policyShadow.inc({ rule, would }),
    });
  let made = { policy: held.now(), shadow: countOf(held.now()) };
  const now = (): Shadow => {
    if (held.now() !== made.policy) made = { policy: held.now(), shadow: countOf(held.now()) };
    return made.shadow;
  };
  return { now, close: held.close };
};

/**
 * @param record called for each load
 * @throws ConfigFault if a file is invalid at start
 */
export const apiPolicyFrom = (config: PolicyConfig, deps: PolicyDeps, record?: Watching['record']): ApiPolicy => {
  const { log, metrics } = deps;
  const { TEMPER_POLICY_SET: set, TEMPER_POLICY_FILE: file, TEMPER_POLICY_DIRS: folders } = config;
  const { close: closeRemote, ...rest } = restOf(config);
  const watching: Watching = {
    log,
    onLoad: () => metrics.policyAge.setToCurrentTime(),
    onStale: (stale: boolean) => metrics.policyStale.set(stale ? 1 : 0),
    counted: (policy: Policy) => countedPolicy(policy, set, metrics),
    ...(record && { record }),
  };
  const held = holdPolicy(set, { file, folders }, watching, rest);
  const second = holdShadow(config, rest, deps);
  return {
    now: second ? () => second.now().beside(held.now()) : held.now,
    fault: held.fault,
    ...(second && { shadow: second.now }),
    close: () => {
      held.close();
      second?.close();
      closeRemote();
    },
  };
};
