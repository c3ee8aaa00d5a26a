/** Ports, BIOS settings and firmware of a node, as last seen. */
import { Table } from '../parts/tables';
import { Time } from '../parts/texts';
import type { Api } from '../server/api';
import type { Fields } from '../views';

type Text = string | null;
type Port = Fields<'uuid' | 'address', string> &
  Fields<'name' | 'physical_network', Text> & { readonly pxe_enabled: boolean };
type Setting = Fields<'name', string> & Fields<'value' | 'updated_at', Text>;
type Component = Fields<'component', string> &
  Fields<'initial_version' | 'current_version' | 'last_version_flashed' | 'updated_at', Text>;

/** Parts that the caller may not read are undefined. */
export const nodeParts = async (api: Api, node: string) => {
  const path = `/v1/nodes/${node}`;
  const [ports, bios, firmware] = await Promise.all([
    api.findList<Port>(`${path}/ports`, { fields: 'uuid,name,address,pxe_enabled,physical_network' }),
    api.findList<Setting>(`${path}/bios`, { fields: 'name,value,updated_at' }),
    api.findList<Component>(`${path}/firmware`),
  ]);
  return { ports, bios, firmware };
};

export const NodeParts = ({ ports, bios, firmware }: Awaited<ReturnType<typeof nodeParts>>) => (
  <>
    <Table
      heading
      caption="Ports"
      rows={ports}
      columns={[
        { title: 'Address', of: ({ address }) => <code>{address}</code> },
        { title: 'Name', of: ({ name }) => name },
        { title: 'PXE boot', of: ({ pxe_enabled }) => (pxe_enabled ? 'yes' : 'no') },
        { title: 'Physical network', of: (port) => port.physical_network },
      ]}
      empty="No ports yet. An inspection finds them."
    />
    <Table
      heading
      caption="Firmware"
      rows={firmware}
      columns={[
        { title: 'Component', of: ({ component }) => component },
        { title: 'Version', of: (one) => one.current_version },
        { title: 'First seen with', of: (one) => one.initial_version },
        { title: 'Last flashed', of: (one) => one.last_version_flashed },
        { title: 'Seen', of: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      empty="No firmware versions yet"
    />
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
  </>
);
