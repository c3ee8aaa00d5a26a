/** The ramdisk as the wire knows it: in which states its callbacks count, and what it is sent. */
import { asDocument, type Document } from '../document';
import type { ProvisionState } from './states';

// openstack/ironic:ironic/drivers/modules/agent_base.py, HeartbeatMixin
const statesAcceptingHeartbeats: readonly ProvisionState[] = [
  'wait call-back',
  'clean wait',
  'rescue wait',
  'service wait',
  'inspect wait',
  'enroll',
  'manageable',
  'available',
  'cleaning',
  'deploying',
  'rescuing',
  'servicing',
  'inspecting',
  'clean hold',
  'deploy hold',
  'service hold',
];

/** Whether a heartbeat counts in a state; elsewhere it is ignored. What comes of it is the run's to say, if one waits. */
export const acceptsHeartbeat = (state: ProvisionState): boolean => statesAcceptingHeartbeats.includes(state);

/** States in which a ramdisk may send what it found on its node. */
export const inspectionStates: readonly ProvisionState[] = ['inspecting', 'inspect wait'];

/** Fields of a node that its ramdisk finds in a lookup; of what they hold, `shownToRamdisk` leaves little. */
export const lookupFields = ['uuid', 'properties', 'instance_info', 'driver_internal_info'] as const;

// What openstack/ironic-python-agent:ironic_python_agent/hardware.py reads of the node that it was given at its lookup.
const ramdiskProperties: readonly string[] = ['root_device', 'skip_block_devices', 'capabilities', 'cpu_arch'];

/**
 * A node's representation as its ramdisk may see it at a lookup, where an address on the network is all that vouches for it:
 * which disks to choose and to leave alone. What an instance is made of travels with the commands that need it, to who has
 * the token; an inspection needs nothing.
 */
export const shownToRamdisk = (shown: Document, state: ProvisionState): Document => {
  const needed = inspectionStates.includes(state) ? [] : ramdiskProperties;
  const properties = Object.entries(asDocument(shown.properties));
  return {
    ...shown,
    properties: Object.fromEntries(properties.filter(([name]) => needed.includes(name))),
    instance_info: {},
    driver_internal_info: {},
  };
};

/** Settings of the ramdisk that are the same for every node. */
export const agentConfig = {
  metrics: {
    backend: 'noop',
    prepend_host: false,
    prepend_uuid: false,
    prepend_host_reverse: true,
    global_prefix: null,
  },
  metrics_statsd: { statsd_host: 'localhost', statsd_port: 8125 },
  agent_token_required: true,
  agent_containers: {},
  agent_md5_checksum_enable: false,
  disable_deep_image_inspection: false,
  permitted_image_formats: ['raw', 'gpt', 'qcow2', 'iso'],
  agent_skip_bmc_detect: false,
  enable_bios_bootloader_install: true,
  tls_min_version: null,
  tls_cipher_suites: null,
} as const;

/** Minor version from which a lookup carries a token. */
export const tokenSince = 62;

/** Fields of a heartbeat that came later than the heartbeat itself; an older request that names one gets 400. */
export const heartbeatFields = {
  agent_version: 36,
  agent_verify_ca: 68,
  agent_status: 72,
  agent_status_message: 72,
} as const;
