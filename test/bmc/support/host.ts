/** A stand-in for a BMC with everything that inspection and the looks read, in the shapes that sushy-emulator gives it. */
import { createDrivers } from '../../../src/bmc';
import type { ActContext, BmcNode, DriverDeps } from '../../../src/bmc/contract';
import { isTemperError } from '../../../src/model/errors';
import type { ActName } from '../../../src/model/lifecycle/steps';
import { contextWith, hasty, intentsOf, nodeWith, quiet } from './context';
import { type Answer, startDouble } from './double';

type Doc = Readonly<Record<string, unknown>>;
export type Resources = Readonly<Record<string, Doc | Answer>>;

export const link = (path: string) => ({ '@odata.id': path });
export const members = (...paths: string[]) => ({ Members: paths.map(link) });
const up = { State: 'Enabled', Health: 'OK' };

export const root = '/redfish/v1';
export const system = `${root}/Systems/host`;

/** openstack/sushy-tools, templates of the libvirt driver; its Storage answers 500 where it is not configured. */
export const emulated: Readonly<Record<string, Doc | Answer>> = {
  [`${root}/`]: { Id: 'RootService', Systems: link(`${root}/Systems`), Managers: link(`${root}/Managers`) },
  [`${root}/Systems`]: members(system),
  [system]: {
    '@odata.type': '#ComputerSystem.v1_1_0.ComputerSystem',
    '@odata.id': system,
    Id: 'host',
    UUID: 'c7a5fdbd-cdaf-9455-926a-d65c16db1809',
    Manufacturer: 'Sushy Emulator',
    Status: { State: 'Enabled', Health: 'OK', HealthRollUp: 'OK' },
    PowerState: 'On',
    Boot: {
      BootSourceOverrideEnabled: 'Continuous',
      BootSourceOverrideTarget: 'Hdd',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['Pxe', 'Cd', 'Hdd'],
      BootSourceOverrideMode: 'UEFI',
    },
    ProcessorSummary: { Count: 2, Status: up },
    MemorySummary: { TotalSystemMemoryGiB: 8, Status: up },
    Processors: link(`${system}/Processors`),
    EthernetInterfaces: link(`${system}/EthernetInterfaces`),
    SimpleStorage: link(`${system}/SimpleStorage`),
    Storage: link(`${system}/Storage`),
    IndicatorLED: 'Lit',
    Links: { Chassis: [link(`${root}/Chassis/one`)], ManagedBy: [link(`${root}/Managers/one`)] },
  },
  [`${system}/Processors`]: members(`${system}/Processors/CPU0`, `${system}/Processors/CPU1`),
  [`${system}/Processors/CPU0`]: cpu('CPU 0'),
  [`${system}/Processors/CPU1`]: cpu('CPU 1'),
  [`${system}/EthernetInterfaces`]: members(`${system}/EthernetInterfaces/nic1`),
  [`${system}/EthernetInterfaces/nic1`]: nic('52:54:00:4E:5D:37'),
  [`${system}/SimpleStorage`]: members(`${system}/SimpleStorage/virtio`),
  [`${system}/SimpleStorage/virtio`]: {
    Devices: [{ Name: 'vda', CapacityBytes: 107_374_182_400, Status: up }],
  },
  [`${system}/Storage`]: { status: 500, body: { error: { code: 'Base.1.0.GeneralError', message: 'no storage' } } },
  [`${root}/Chassis/one`]: { Id: 'one', IndicatorLED: 'Off' },
  [`${root}/Managers/one`]: {
    Id: 'one',
    FirmwareVersion: '1.00',
    VirtualMedia: link(`${root}/Managers/one/VirtualMedia`),
  },
  [`${root}/Managers/one/VirtualMedia`]: members(`${root}/Managers/one/VirtualMedia/Cd`),
  [`${root}/Managers/one/VirtualMedia/Cd`]: { MediaTypes: ['CD', 'DVD'], Inserted: false, Image: '' },
};

function cpu(Socket: string): Doc {
  return { Socket, ProcessorType: 'CPU', ProcessorArchitecture: 'x86', InstructionSet: 'x86-64', TotalThreads: 2 };
}

export function nic(MACAddress: unknown, more: Doc = {}): Doc {
  return { Id: 'nic1', MACAddress, PermanentMACAddress: MACAddress, SpeedMbps: 1000, Status: up, ...more };
}

/** Some resources of it with other values. */
export const changed = (path: string, more: Doc): Resources => ({ [path]: { ...(emulated[path] as Doc), ...more } });

const isAnswer = (given: Doc | Answer): given is Answer => typeof given.status === 'number';

/** A BMC of these resources on top of the emulated ones, and acts on it. */
export const startHost = async (resources: Resources = {}, deps: Partial<DriverDeps> = {}) => {
  const all: Resources = { ...emulated, ...resources };
  const double = await startDouble((req) => {
    const given = req.method === 'GET' ? all[req.url ?? ''] : undefined;
    if (given === undefined) return { status: 404 };
    return isAnswer(given) ? given : { status: 200, body: given };
  });
  const drivers = createDrivers({
    log: quiet,
    networks: ['127.0.0.0/8'],
    ...deps,
    limits: { ...hasty, ...deps.limits },
  });
  const run = (act: ActName, node: Partial<BmcNode> = {}, args = {}, more: Partial<ActContext> = {}) => {
    const { driver_info, ...rest } = node;
    const whole = { ...nodeWith('redfish', { redfish_address: double.url, ...driver_info }), ...rest };
    return drivers.get('redfish').acts[act]!(whole, args, contextWith(intentsOf(act), more));
  };
  return {
    double,
    run,
    failure: async (...asked: Parameters<typeof run>) => {
      const thrown: unknown = await run(...asked).then(
        (outcome) => new Error(`it ended well: ${JSON.stringify(outcome)}`),
        (error: unknown) => error,
      );
      if (!isTemperError(thrown)) throw thrown;
      return thrown;
    },
    close: async () => {
      await drivers.close();
      await double.close();
    },
  };
};
