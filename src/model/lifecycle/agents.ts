/** The API for the ramdisk: states that accept its callbacks, and the data that it receives. */
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

/** In other states a heartbeat is ignored. */
export const acceptsHeartbeat = (state: ProvisionState): boolean => statesAcceptingHeartbeats.includes(state);

/** States in which a ramdisk may send its inventory. */
export const inspectionStates: readonly ProvisionState[] = ['inspecting', 'inspect wait'];

/** `shownToRamdisk` removes most of their content. */
export const lookupFields = ['uuid', 'properties', 'instance_info', 'driver_internal_info'] as const;

// Read by openstack/ironic-python-agent:ironic_python_agent/hardware.py after its lookup.
const ramdiskProperties: readonly string[] = ['root_device', 'skip_block_devices', 'capabilities', 'cpu_arch'];

/**
 * Shows only properties for selecting and skipping disks, because just a network address authenticates a lookup. The instance's data
 * travels with commands, to the holder of the token. An inspection needs no properties.
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

/** Minor version from which a lookup returns a token. */
export const tokenSince = 62;

/** By minor version. An older request with one of them gets 400. */
export const heartbeatFields = {
  agent_version: 36,
  agent_verify_ca: 68,
  agent_status: 72,
  agent_status_message: 72,
} as const;
