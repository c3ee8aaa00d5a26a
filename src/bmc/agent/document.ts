/** Node document for the ramdisk, without secrets. */
import type { BmcNode } from '../contract';

// Credentials and large values have their own commands, or do not belong in a ramdisk.
const withheld = /passw|secret|token|configdrive|auth|pull_secret/i;

type InstanceInfo = Readonly<Record<string, unknown>>;

const openInfo = (info: InstanceInfo = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(info).filter(([key]) => !withheld.test(key)));

/** Fields for hardware managers (`agent_burnin_cpu_timeout` ...), none for the BMC. */
const agentInfo = (info: InstanceInfo): Record<string, unknown> =>
  Object.fromEntries(Object.entries(openInfo(info)).filter(([key]) => key.startsWith('agent_')));

/**
 * Keys that the agent reads in driver_internal_info, with Ironic's defaults. A node's driver_info overrides them.
 * https://docs.openstack.org/ironic/latest/admin/cleaning.html
 */
const erasure: InstanceInfo = {
  agent_erase_devices_iterations: 1,
  agent_erase_devices_zeroize: true,
  agent_continue_if_secure_erase_failed: false,
  agent_continue_if_ata_erase_failed: false,
  agent_enable_nvme_secure_erase: true,
  agent_enable_ata_secure_erase: true,
  agent_erase_skip_read_only: false,
  disk_erasure_concurrency: 4,
};

const erasureOf = (info: InstanceInfo): InstanceInfo =>
  Object.fromEntries(Object.entries(erasure).map(([key, usual]) => [key, info[key] ?? usual]));

export const nodeDocument = (node: BmcNode): Record<string, unknown> => ({
  uuid: node.uuid,
  name: node.name,
  properties: node.properties,
  instance_info: openInfo(node.instance_info),
  driver_info: agentInfo(node.driver_info),
  driver_internal_info: {
    ...erasureOf(node.driver_info),
    ...(node.boot_mode && { deploy_boot_mode: node.boot_mode }),
  },
  target_raid_config: node.target_raid_config ?? {},
  raid_config: {},
});

export const portDocuments = ({ ports = [] }: BmcNode): Record<string, unknown>[] =>
  ports.map(({ address, pxe_enabled }) => ({ address, pxe_enabled }));
