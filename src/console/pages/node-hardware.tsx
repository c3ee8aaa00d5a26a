/** Hardware of a node as last seen: inventory, ports and networks, firmware beside the fleet's, BIOS settings. */
import type { ComponentChildren } from 'preact';
import { Table } from '../parts/tables';
import { Empty, Facts, State, Time } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { Api } from '../server/api';
import type { Fields, NodeView } from '../views';
import { propertyText } from './node-side';

type Text = string | null;
type Document = Readonly<Record<string, unknown>>;
type Port = Fields<'uuid' | 'address', string> &
  Fields<'name' | 'physical_network', Text> & {
    readonly pxe_enabled: boolean;
    readonly internal_info?: Document;
    readonly local_link_connection?: Document;
  };
type Setting = Fields<'name', string> & Fields<'value' | 'updated_at', Text>;
type Component = Fields<'component', string> &
  Fields<'initial_version' | 'current_version' | 'last_version_flashed' | 'updated_at', Text>;
type FleetVersion = Fields<'component', string> & Fields<'version', Text> & { readonly nodes: number };

const portFields = 'uuid,name,address,pxe_enabled,physical_network,internal_info,local_link_connection';
const mostVersions = 200;

/** Parts that the caller may not read are undefined. */
export const hardwareOf = async (api: Api, node: NodeView) => {
  const path = `/v1/nodes/${node.uuid}`;
  const kind = { vendor: propertyText(node, 'vendor'), model: propertyText(node, 'model') };
  const [inventory, ports, vifs, bios, firmware, fleet] = await Promise.all([
    api.find<{ readonly inventory: Document }>(`${path}/inventory`),
    api.findList<Port>(`${path}/ports`, { fields: portFields }),
    api.findList<{ readonly id: string }>(`${path}/vifs`),
    api.findList<Setting>(`${path}/bios`, { fields: 'name,value,updated_at' }),
    api.findList<Component>(`${path}/firmware`),
    kind.model ? api.findList<FleetVersion>('/temper/v1/firmware', { ...kind, limit: mostVersions }) : undefined,
  ]);
  return { inventory: inventory?.inventory, ports, vifs, bios, firmware, fleet: fleet ?? [] };
};

type Hardware = Awaited<ReturnType<typeof hardwareOf>>;

const objectIn = (value: unknown): Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : {};
const listIn = (value: unknown): readonly Document[] => (Array.isArray(value) ? value.map(objectIn) : []);
const shownText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const gibOf = (bytes: unknown): string | undefined =>
  typeof bytes === 'number' ? `${Math.round(bytes / 2 ** 30)} GiB` : undefined;

const Inventory = ({ inventory }: { inventory: Document }) => {
  const [system, cpu, memory] = [inventory.system_vendor, inventory.cpu, inventory.memory].map(objectIn);
  const memoryMb = memory!.physical_mb;
  return (
    <>
      <Facts
        rows={[
          ['Vendor', shownText(system!.manufacturer)],
          ['Model', shownText(system!.product_name)],
          ['Serial number', shownText(system!.serial_number)],
          ['Processor', shownText(cpu!.model_name)],
          ['Threads', shownText(cpu!.count)],
          ['Architecture', shownText(cpu!.architecture)],
          ['Memory', typeof memoryMb === 'number' && `${Math.round(memoryMb / 1024)} GiB`],
        ]}
      />
      <Table
        caption="Disks"
        rows={listIn(inventory.disks)}
        columns={[
          { title: 'Disk', of: ({ name }) => shownText(name) },
          { title: 'Model', of: ({ model }) => shownText(model) },
          { title: 'Size', of: ({ size }) => gibOf(size) },
          { title: 'Serial number', of: ({ serial }) => shownText(serial) },
          { title: 'Kind', of: ({ rotational }) => typeof rotational === 'boolean' && (rotational ? 'spinning' : 'solid state') },
        ]}
        empty="No disks seen"
      />
    </>
  );
}; // biome-ignore format: short columns

/** Version that most nodes of the same vendor and model have. */
const mostFrequent = (fleet: readonly FleetVersion[], component: string): FleetVersion | undefined =>
  fleet.filter((one) => one.component === component && one.version !== null).toSorted((one, other) => other.nodes - one.nodes)[0]; // biome-ignore format: one line

const Drift = ({ own, fleet }: { own: Component; fleet: readonly FleetVersion[] }): ComponentChildren => {
  const usual = mostFrequent(fleet, own.component);
  if (!usual?.version) return null;
  const all = fleet.filter(({ component }) => component === own.component).reduce((sum, { nodes }) => sum + nodes, 0);
  const same = usual.version === own.current_version;
  return (
    <>
      <State is={same ? 'same' : `others have ${usual.version}`} tone={same ? 'good' : 'wait'} />{' '}
      <span class="muted">{usual.nodes} of {all} nodes</span>
    </>
  );
}; // biome-ignore format: short parts

const switchOf = ({ local_link_connection: link = {} }: Port): string =>
  [link.switch_info, link.port_id].flatMap((part) => shownText(part) ?? []).join(' ');

const Vifs = ({ vifs }: { vifs: readonly { readonly id: string }[] }) => (
  <p class="muted">Networks attached to the instance: {vifs.map(({ id }) => id).join(', ')}</p>
);

const Ports = ({ ports, vifs }: Pick<Hardware, 'ports' | 'vifs'>) => (
  <TitledSection title="Ports">
    <Table
      caption="Ports"
      rows={ports}
      columns={[
        { title: 'Address', of: ({ address }) => <code>{address}</code> },
        { title: 'Name', of: ({ name }) => name },
        { title: 'PXE boot', of: ({ pxe_enabled }) => (pxe_enabled ? 'yes' : 'no') },
        { title: 'Physical network', of: (port) => port.physical_network },
        { title: 'Network (VIF)', of: ({ internal_info: info }) => shownText(info?.tenant_vif_port_id) },
        { title: 'Switch', of: switchOf },
      ]}
      empty="No ports yet. An inspection finds them."
    />
    {vifs && vifs.length > 0 && <Vifs vifs={vifs} />}
  </TitledSection>
);

const Firmware = ({ firmware, fleet }: Pick<Hardware, 'firmware' | 'fleet'>) => (
  <TitledSection title="Firmware">
    <Table
      caption="Firmware"
      rows={firmware}
      columns={[
        { title: 'Component', of: ({ component }) => component },
        { title: 'Version', of: (one) => one.current_version },
        { title: 'Most nodes of this model', of: (own) => <Drift own={own} fleet={fleet} /> },
        { title: 'First seen with', of: (one) => one.initial_version },
        { title: 'Last flashed', of: (one) => one.last_version_flashed },
        { title: 'Seen', of: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      empty="No firmware versions yet"
    />
  </TitledSection>
);

export const NodeHardware = ({ inventory, ports, vifs, bios, firmware, fleet }: Hardware) => (
  <>
    <TitledSection title="Inventory">
      {inventory ? <Inventory inventory={inventory} /> : <Empty icon="server" title="No inventory, or you don’t have access to it." />}
    </TitledSection>
    <Ports ports={ports} vifs={vifs} />
    <Firmware firmware={firmware} fleet={fleet} />
    <TitledSection title="BIOS settings">
      <details id="bios">
        <summary>BIOS settings ({bios?.length ?? 'hidden'})</summary>
        <Table
          caption="BIOS settings"
          rows={bios}
          columns={[
            { title: 'Setting', of: ({ name }) => name },
            { title: 'Value', of: ({ value }) => <code>{value ?? '–'}</code> },
            { title: 'Seen', of: ({ updated_at }) => <Time at={updated_at} /> },
          ]}
          empty="No BIOS settings yet"
        />
      </details>
    </TitledSection>
  </>
); // biome-ignore format: short parts
