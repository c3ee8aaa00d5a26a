/** What an emulated ramdisk tells of its machine when it is asked to inspect it. */
import type { Machine } from './types';

const gigabyte = 1_000_000_000;

/** Shape: openstack/ironic-python-agent:ironic_python_agent/inspector.py and hardware.py. */
export const inventoryOf = ({ macs, bootMode = 'uefi', bmcAddress }: Machine): Record<string, unknown> => ({
  inventory: {
    interfaces: macs.map((mac_address, index) => ({
      name: `eno${index + 1}`,
      mac_address,
      ipv4_address: index === 0 ? '192.0.2.10' : null,
      has_carrier: true,
      lldp: [],
      vendor: '0x8086',
      product: '0x1572',
      speed_mbps: 10_000,
    })),
    cpu: {
      model_name: 'Emulated CPU',
      frequency: '2400',
      count: 32,
      architecture: 'x86_64',
      flags: ['vmx'],
      socket_count: 2,
    },
    disks: [
      {
        name: '/dev/sda',
        model: 'EMULATED',
        size: 480 * gigabyte,
        rotational: false,
        wwn: null,
        serial: 'E0001',
        vendor: 'ATA',
      },
    ],
    memory: { total: 64 * 1_024 ** 3, physical_mb: 65_536 },
    bmc_address: bmcAddress ?? null,
    bmc_v6address: null,
    system_vendor: { product_name: 'Emulated', serial_number: 'E0001', manufacturer: 'Temper' },
    boot: { current_boot_mode: bootMode, pxe_interface: macs[0] ?? null },
    hostname: 'emulated',
  },
  boot_interface: macs[0] ?? null,
  error: null,
});
