/** What a ramdisk is sent about its node: what its hardware managers read, and no secret. */
import type { BmcNode } from '../contract';

// Credentials and large things have commands of their own, or no business in a ramdisk.
const withheld = /passw|secret|token|configdrive|auth|pull_secret/i;

/** instance_info without what is `withheld`. */
const openInfo = (info: BmcNode['instance_info'] = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(info).filter(([key]) => !withheld.test(key)));

export const nodeDocument = (node: BmcNode): Record<string, unknown> => ({
  uuid: node.uuid,
  name: node.name,
  properties: node.properties,
  instance_info: openInfo(node.instance_info),
  driver_info: {},
  driver_internal_info: node.boot_mode ? { deploy_boot_mode: node.boot_mode } : {},
  target_raid_config: node.target_raid_config ?? {},
  raid_config: {},
});

export const portDocuments = ({ ports = [] }: BmcNode): Record<string, unknown>[] =>
  ports.map(({ address, pxe_enabled }) => ({ address, pxe_enabled }));
