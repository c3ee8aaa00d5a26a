/** Reads an inventory: properties for schedulers, and network interfaces. Pure. */
import { asDocument, type Document } from '../document';
import type { RunObserved } from '../runs/runs';

const list = (value: unknown): readonly Document[] => (Array.isArray(value) ? value.map(asDocument) : []);
const wholeNumber = (value: unknown): number | undefined => {
  const number = Math.floor(Number(value));
  return value !== null && value !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

const gib = 1024 ** 3;
// Smaller disks are card readers and the like. As in Ironic, one GiB is left for partition tables.
const smallestDiskBytes = 4 * gib;

const localGb = (inventory: Document): number | undefined => {
  const sizes = list(inventory.disks)
    .map((disk) => Number(disk.size))
    .filter((size) => size >= smallestDiskBytes);
  return sizes.length > 0 ? Math.floor(Math.min(...sizes) / gib) - 1 : undefined;
};

const knownProperties = (properties: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined && value !== ''));

const macForm = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** Leaves out values of a wrong type. */
export const factsOf = (inventory: Document): Pick<RunObserved, 'properties' | 'macs'> => {
  const cpu = asDocument(inventory.cpu);
  return {
    properties: knownProperties({
      cpu_arch: typeof cpu.architecture === 'string' ? cpu.architecture : undefined,
      cpus: wholeNumber(cpu.count),
      memory_mb: wholeNumber(asDocument(inventory.memory).physical_mb),
      local_gb: localGb(inventory),
    }),
    macs: list(inventory.interfaces)
      .map(({ mac_address }) => String(mac_address ?? '').toLowerCase())
      .filter((mac) => macForm.test(mac)),
  };
};

// openstack/ironic: drivers/base.py, ESSENTIAL_PROPERTIES of inspection
const essential = ['cpu_arch', 'memory_mb', 'local_gb'] as const;

export const missingFacts = ({ properties = {} }: Pick<RunObserved, 'properties'>): string[] =>
  essential.filter((name) => properties[name] === undefined);

const longestError = 500;

/** The ramdisk's own error, sent beside the inventory. openstack/ironic-python-agent: inspector.py, the key `error`. */
export const errorOf = ({ error }: Document): string | undefined => {
  if (error === undefined || error === null || error === '') return undefined;
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  return (
    text
      .replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ')
      .trim()
      .slice(0, longestError) || 'it gives no reason'
  );
};
