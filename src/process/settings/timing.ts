/** Durations of a run from the settings. */
import type { Timing } from '../../model/runs/runs';
import type { ApiConfig } from './config';

type TimingSettings = Pick<
  ApiConfig,
  | 'TEMPER_POWER_TIMEOUT_MS'
  | 'TEMPER_SOFT_POWER_TIMEOUT_MS'
  | 'TEMPER_SETTLE_MS'
  | 'TEMPER_AGENT_TIMEOUT_MS'
  | 'TEMPER_AGENT_SILENCE_MS'
  | 'TEMPER_POLL_MS'
  | 'TEMPER_ABORT_TIMEOUT_MS'
  | 'TEMPER_HEARTBEAT_MS'
  | 'TEMPER_RETRY_MS'
>;

export const timingOf = (config: TimingSettings): Timing => {
  const limit = { heartbeatMs: config.TEMPER_HEARTBEAT_MS, retryMs: config.TEMPER_RETRY_MS };
  return {
    powerTimeoutMs: config.TEMPER_POWER_TIMEOUT_MS,
    softPowerTimeoutMs: config.TEMPER_SOFT_POWER_TIMEOUT_MS,
    settleMs: config.TEMPER_SETTLE_MS,
    agentTimeoutMs: config.TEMPER_AGENT_TIMEOUT_MS,
    agentSilenceMs: config.TEMPER_AGENT_SILENCE_MS,
    abortTimeoutMs: config.TEMPER_ABORT_TIMEOUT_MS,
    pollMs: config.TEMPER_POLL_MS,
    limits: { read: limit, converge: limit, once: { heartbeatMs: config.TEMPER_HEARTBEAT_MS } },
  };
};
