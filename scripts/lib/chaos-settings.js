/** How a system is set up for chaos: quick hardware, and deaths that are noticed soon. What is done stays the same. */

const settings = {
  TEMPER_HEARTBEAT_MS: '4000',
  TEMPER_RETRY_MS: '500',
  TEMPER_POLL_MS: '100',
  TEMPER_SETTLE_MS: '10000',
  TEMPER_SOFT_POWER_TIMEOUT_MS: '20000',
  TEMPER_AGENT_TIMEOUT_MS: '120000',
  TEMPER_HEARTBEAT_TIMEOUT_S: '10',
  TEMPER_POWER_SYNC_SECONDS: '0',
  TEMPER_MAX_CONCURRENT_CLEAN: '0',
  TEMPER_MAX_CONCURRENT_DEPLOY: '0',
  TEMPER_RACK_SPEED: '10',
};

/** What never comes is given up soon. */
const forFaults = { TEMPER_POWER_TIMEOUT_MS: '25000', TEMPER_AGENT_TIMEOUT_MS: '25000' };

/** Many rollouts side by side: runs are short, so that as many as can be are in the middle of something when a blow falls. */
const forRollouts = { ...forFaults, TEMPER_POWER_TIMEOUT_MS: '15000', TEMPER_RACK_SPEED: '50' };

/** A rack that stands still for two minutes has no ramdisk that calls back meanwhile. */
const forPauses = { TEMPER_AGENT_TIMEOUT_MS: '300000' };

module.exports = { forFaults, forPauses, forRollouts, settings };
