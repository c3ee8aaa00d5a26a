/** What a ramdisk is sent about its node. */
import { nodeDocument } from '../../src/bmc/agent/document';
import { nodeWith } from './support/context';

test('its hardware managers get their own settings, and nothing of the BMC', () => {
  const node = nodeWith('redfish', {
    redfish_address: 'https://192.0.2.7',
    redfish_password: 'hunter2',
    agent_burnin_cpu_timeout: 86_400,
    agent_secret_key: 'hunter2',
    deploy_iso: 'https://images.example.org/ramdisk.iso',
  });
  expect(nodeDocument(node)).toMatchObject({ driver_info: { agent_burnin_cpu_timeout: 86_400 } });
  expect(Object.keys(nodeDocument(node).driver_info as object)).toEqual(['agent_burnin_cpu_timeout']);
  expect(JSON.stringify(nodeDocument(node))).not.toContain('hunter2');
});

test('disks are erased as the original erases them', () => {
  expect(nodeDocument({ ...nodeWith('redfish', {}), boot_mode: 'uefi' }).driver_internal_info).toEqual({
    agent_erase_devices_iterations: 1,
    agent_erase_devices_zeroize: true,
    agent_continue_if_secure_erase_failed: false,
    agent_continue_if_ata_erase_failed: false,
    agent_enable_nvme_secure_erase: true,
    agent_enable_ata_secure_erase: true,
    agent_erase_skip_read_only: false,
    disk_erasure_concurrency: 4,
    deploy_boot_mode: 'uefi',
  });
});

test('and otherwise where driver_info says so', () => {
  const node = nodeWith('redfish', { agent_erase_devices_iterations: 3, disk_erasure_concurrency: 1 });
  expect(nodeDocument(node).driver_internal_info).toMatchObject({
    agent_erase_devices_iterations: 3,
    disk_erasure_concurrency: 1,
  });
});
