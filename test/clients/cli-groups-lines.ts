/** The walk over all groups of `baremetal help`, as a table: what is typed, in order, and what comes of it. */

/** Without `refused`, an HTTP status, or `unknown`, words the client itself refuses, the command succeeds. */
export type Outcome = {
  /** What it shows as JSON: this and no more, this among others, or a list with this. */
  readonly shows?: { readonly is: unknown } | { readonly has: object } | { readonly one: object };
  readonly unknown?: true;
  readonly refused?: number;
  /** Keeps the UUID that the command shows under a name, for later lines as `{name}`. */
  readonly keep?: string;
  /** The node of this name then rests in this state, before the next line is typed. */
  readonly rests?: readonly [node: string, state: string];
};
export type Line = readonly [types: string, outcome?: Outcome];

const rests = (node: string, state: string): Outcome => ({ rests: [node, state] });
const shows = (content: object): Outcome => ({ shows: { has: content } });
const showsOne = (content: object): Outcome => ({ shows: { one: content } });
const keep = (name: string): Outcome => ({ keep: name });

const disk = `'[{"interface":"management","step":"set_boot_device","args":{"boot_device":"disk"},"order":1}]'`;
const raw = `'[{"interface":"management","step":"set_boot_device","args":{"boot_device":"disk"}}]'`;
const hold = `'[{"interface":"power","step":"hold"}]'`;
const template = `'[{"interface":"deploy","step":"erase_devices_metadata","args":{},"priority":20}]'`;

const tall = `'[{"op":"set-attribute","args":{"path":"/extra/tall","value":"yes"}}]'`;

/** What the service offers. `worker` is the name of its one conductor. */
const service: readonly Line[] = [
  ['help'],
  ['help node list'],
  ['complete'],
  ['driver list', showsOne({ name: 'redfish' })],
  ['driver list --long --type dynamic'],
  ['driver show redfish'],
  ['driver property list redfish'],
  ['driver raid property list redfish'],
  ['driver passthru list redfish'],
  ['driver passthru call redfish no_such_method --http-method POST', { refused: 400 }],
  ['conductor list', showsOne({ alive: true })],
  ['conductor list --long'],
  ['conductor show {worker}', shows({ alive: true })],
];

/** Chassis, nodes and what is kept beside them. */
const books: readonly Line[] = [
  ['chassis create --description Rack --extra row=7', keep('chassis')],
  ['chassis list', showsOne({ description: 'Rack' })],
  ['chassis list --long --sort description:desc'],
  ['chassis set {chassis} --description Cage --extra row=8'],
  ['chassis show {chassis}', shows({ description: 'Cage', extra: { row: 8 } })],
  ['chassis unset {chassis} --extra row'],
  [
    'node create --name {p}f --driver fake-hardware --resource-class {p}gold --chassis-uuid {chassis} --property cpus=4 --extra a=1',
    keep('f'),
  ],
  [
    'node create --name {p}spare --driver fake-hardware --parent-node {f} --shard {p}s1 --no-automated-clean',
    keep('s'),
  ],
  ['node create --name {p}r --driver redfish {redfish}', keep('r')],
  ['node list --chassis {chassis}', showsOne({ name: '{p}f' })],
  ['node list --long --resource-class {p}gold --sort name:desc --limit 5'],
  ['node list --driver redfish --fields name driver provision_state'],
  ['node list --provision-state enroll --unassociated --no-maintenance --no-retired'],
  ['node show {p}f --fields name resource_class', { shows: { is: { name: '{p}f', resource_class: '{p}gold' } } }],
  ['node children list {p}f', { shows: { is: { children: ['{s}'] } } }],
  ['shard list', showsOne({ name: '{p}s1', count: 1 })],
  ['node set {p}f --owner project-owner --lessee project-lessee --description leased --extra b=2 --property cpus=8'],
  ['node list --owner project-owner --fields name', { shows: { is: [{ name: '{p}f' }] } }],
  ['node list --lessee project-lessee --fields name', { shows: { is: [{ name: '{p}f' }] } }],
  ['node unset {p}f --owner --lessee --description --extra b'],
  ['node set {p}f --no-automated-clean --instance-info image_source=http://images.example.org/a.raw'],
  ['node set {p}f --instance-info image_checksum=0123456789abcdef0123456789abcdef'],
  ['node set {p}f --retired --retired-reason old'],
  ['node list --retired --fields name', { shows: { is: [{ name: '{p}f' }] } }],
  ['node unset {p}f --retired --retired-reason'],
  ['node set {p}f --no-such-option', { unknown: true }],
  ['node set {p}f --driver no-such-driver', { refused: 400 }],
  ['node trait add {p}f CUSTOM_A CUSTOM_B CUSTOM_{P}BOOK'],
  ['node add trait {p}f CUSTOM_C'],
  ['node trait list {p}f', showsOne({ traits: 'CUSTOM_C' })],
  ['node trait remove {p}f CUSTOM_A'],
  ['node remove trait {p}f CUSTOM_C'],
  ['node maintenance set {p}f --reason fan'],
  ['node list --maintenance --long', showsOne({ maintenance_reason: 'fan' })],
  ['node maintenance unset {p}f'],
  ['node validate {p}f', showsOne({ Interface: 'power', Result: true })],
];

const network: readonly Line[] = [
  ['port group create --node {f} --name {p}bond --address {mac:0} --mode 802.3ad --property miimon=100', keep('group')],
  ['port group list --node {p}f', showsOne({ name: '{p}bond' })],
  ['port group list --long'],
  ['port group set {p}bond --mode active-backup --extra x=1'],
  ['port group show {p}bond', shows({ mode: 'active-backup' })],
  ['port group show --address {mac:0}'],
  ['port group unset {p}bond --extra x'],
  [
    'port create {mac:1} --node {f} --port-group {group} --pxe-enabled true --physical-network net --extra x=1',
    keep('port'),
  ],
  ['port list --node {p}f', showsOne({ address: '{mac:1}' })],
  ['port list --address {mac:1} --long'],
  ['port list --port-group {p}bond --fields uuid address'],
  ['port show {port}', shows({ portgroup_uuid: '{group}' })],
  ['port show --address {mac:1}'],
  ['port delete {port}'],
  ['port group delete {p}bond'],
  ['port create {mac:2} --node {f} --extra x=1', keep('free')],
  [
    'port set {free} --physical-network other --local-link-connection switch_id=0a:1b:2c:3d:4e:5f --local-link-connection port_id=Ethernet1/1',
  ],
  ['port show {free}', shows({ physical_network: 'other' })],
  ['port unset {free} --extra x --physical-network'],
  ['node vif attach {p}f net-1 --vif-info port_uuid={free}'],
  ['node vif list {p}f', showsOne({ id: 'net-1' })],
  ['node vif detach {p}f net-1'],
];

/** Volumes change while the node is known to be off. */
const volumes: readonly Line[] = [
  ['node manage {p}f', rests('{p}f', 'manageable')],
  ['volume connector create --node {f} --type iqn --connector-id iqn.2026-11.org.example:{p}', keep('connector')],
  ['volume connector list --node {p}f', showsOne({ type: 'iqn' })],
  ['volume connector set {connector} --extra x=1'],
  ['volume connector show {connector}', shows({ type: 'iqn' })],
  ['volume connector unset {connector} --extra x'],
  ['volume connector delete {connector}'],
  ['volume target create --node {f} --type iscsi --volume-id {chassis} --boot-index 0', keep('target')],
  ['volume target list --node {p}f', showsOne({ boot_index: 0 })],
  ['volume target set {target} --boot-index 1 --extra x=1'],
  ['volume target show {target}', shows({ boot_index: 1 })],
  ['volume target unset {target} --extra x'],
  ['volume target delete {target}'],
];

/** Lists of steps under a name. */
const plans: readonly Line[] = [
  [`deploy template create CUSTOM_{P}TEMPLATE --steps ${template} --extra x=1`, keep('template')],
  ['deploy template list', showsOne({ name: 'CUSTOM_{P}TEMPLATE' })],
  [`deploy template set CUSTOM_{P}TEMPLATE --steps ${template} --extra y=1`],
  ['deploy template show {template}', shows({ extra: { x: 1, y: 1 } })],
  ['deploy template unset CUSTOM_{P}TEMPLATE --extra x'],
  ['deploy template delete CUSTOM_{P}TEMPLATE'],
  [
    `runbook create --name CUSTOM_{P}BOOK --steps ${disk} --extra x=1 --description Disk --public`,
    shows({ public: true }),
  ],
  [`runbook create --name CUSTOM_{P}OWNED --steps ${disk} --owner project-owner`, shows({ owner: 'project-owner' })],
  ['runbook delete CUSTOM_{P}OWNED'],
  ['runbook list', showsOne({ name: 'CUSTOM_{P}BOOK' })],
  ['runbook list --long --limit 5'],
  ['runbook unset CUSTOM_{P}BOOK --public'],
  ['runbook set CUSTOM_{P}BOOK --owner project-owner'],
  ['runbook unset CUSTOM_{P}BOOK --owner --extra x'],
  ['runbook set CUSTOM_{P}BOOK --public --disable-ramdisk'],
  [
    'runbook show CUSTOM_{P}BOOK',
    shows({ public: true, owner: null, description: 'Disk', disable_ramdisk: true, extra: {} }),
  ],
  ['runbook trait add CUSTOM_{P}BOOK CUSTOM_{P}BOOK'],
  ['runbook trait list CUSTOM_{P}BOOK', showsOne({ traits: 'CUSTOM_{P}BOOK' })],
  // The command sends a text where Ironic's schema wants a number; it can be set afterwards.
  [`inspection rule create --actions ${tall} --conditions '[]' --priority 5`, { refused: 400 }],
  [`inspection rule create --description Tall --actions ${tall} --conditions '[]'`, keep('rule')],
  ['inspection rule list', showsOne({ description: 'Tall' })],
  ['inspection rule set {rule} --description High --priority 6'],
  ['inspection rule show {rule}', shows({ description: 'High' })],
  ['inspection rule unset {rule} --description'],
  ['inspection rule delete {rule}'],
];

/** The life of a node that does nothing: all verbs. */
const verbs: readonly Line[] = [
  ['node inspect {p}f', rests('{p}f', 'manageable')],
  ['node history list {p}f', { keep: 'event' }],
  ['node history list {p}f --long'],
  ['node history get {p}f {event}', shows({ uuid: '{event}' })],
  [`node clean {p}f --clean-steps ${raw} --disable-ramdisk`, rests('{p}f', 'manageable')],
  ['node clean {p}f --runbook CUSTOM_{P}BOOK', rests('{p}f', 'manageable')],
  [`node clean {p}f --clean-steps ${hold} --disable-ramdisk`, rests('{p}f', 'clean hold')],
  ['node unhold {p}f', rests('{p}f', 'manageable')],
  [`node clean {p}f --clean-steps ${hold} --disable-ramdisk`, rests('{p}f', 'clean hold')],
  ['node abort {p}f', rests('{p}f', 'clean failed')],
  ['node manage {p}f', rests('{p}f', 'manageable')],
  ['node maintenance unset {p}f'],
  ['node provide {p}f', rests('{p}f', 'available')],
  [
    'allocation create --resource-class {p}gold --trait CUSTOM_B --candidate-node {p}f --name {p}web --extra x=1 --wait 60',
    shows({ state: 'active', node_uuid: '{f}' }),
  ],
  ['allocation list --state active --node {p}f', showsOne({ name: '{p}web' })],
  ['allocation list --long --resource-class {p}gold'],
  ['allocation set {p}web --name {p}db --extra y=2'],
  ['allocation show {p}db', shows({ extra: { x: 1, y: 2 } })],
  ['allocation unset {p}db --extra x'],
  ['allocation delete {p}db'],
  [`node deploy {p}f --config-drive '{"meta_data":{"name":"{p}f"}}'`, rests('{p}f', 'active')],
  ['node set {p}f --protected --protected-reason database'],
  ['node undeploy {p}f', { refused: 403 }],
  ['node unset {p}f --protected --protected-reason'],
  [`node service {p}f --service-steps ${raw}`, rests('{p}f', 'active')],
  ['node service {p}f --runbook CUSTOM_{P}BOOK', rests('{p}f', 'active')],
  ['allocation create --node {p}f --name {p}late', shows({ node_uuid: '{f}' })],
  ['allocation list --owner project-owner', { shows: { is: [] } }],
  ['allocation list --fields name state', showsOne({ name: '{p}late' })],
  ['node rescue {p}f --rescue-password a-password', rests('{p}f', 'rescue')],
  ['node unrescue {p}f', rests('{p}f', 'active')],
  ['node rebuild {p}f', rests('{p}f', 'active')],
  ['node undeploy {p}f', rests('{p}f', 'available')],
  ['node manage {p}f', rests('{p}f', 'manageable')],
  ['node adopt {p}f', rests('{p}f', 'active')],
  ['node power on {p}f --power-timeout 60', rests('{p}f', 'active')],
  ['node reboot {p}f', rests('{p}f', 'active')],
  ['node reboot {p}f --soft --power-timeout 60', rests('{p}f', 'active')],
  ['node power off {p}f --soft', rests('{p}f', 'active')],
];

/** What needs a machine: a BMC of the rack. */
const machine: readonly Line[] = [
  ['node manage {p}r --wait 120'],
  ['node inspect {p}r', rests('{p}r', 'manageable')],
  ['node inventory save {p}r'],
  ['node boot device show {p}r --supported'],
  ['node boot device set {p}r pxe --persistent'],
  ['node boot device show {p}r', shows({ boot_device: 'pxe' })],
  ['node boot mode set {p}r uefi'],
  ['node secure boot on {p}r'],
  ['node secure boot off {p}r'],
  ['node power on {p}r', rests('{p}r', 'manageable')],
  ['node inject nmi {p}r'],
  ['node bios setting list {p}r', { keep: 'setting' }],
  ['node bios setting list {p}r --long'],
  ['node bios setting show {p}r {setting}', shows({ name: '{setting}' })],
  ['node firmware list {p}r'],
  ['node passthru list {p}r', showsOne({ Name: 'create_subscription' })],
  [
    'node passthru call {p}r create_subscription --http-method POST --arg Destination=https://events.example.org/cli --arg Context=cli',
  ],
  ['node console show {p}r', { refused: 400 }],
  ['node console enable {p}r', { refused: 400 }],
  ['node console disable {p}r', { refused: 400 }],
  ['node console enable {p}f'],
  ['node console show {p}f', shows({ console_enabled: true })],
  ['node console disable {p}f'],
];

const ends: readonly Line[] = [
  ['create {file}'],
  ['node show {p}file --fields name', { shows: { is: { name: '{p}file' } } }],
  ['node delete {p}file {p}r {p}spare'],
  ['node maintenance set {p}f'],
  ['node delete {p}f'],
  ['node show {p}f', { refused: 404 }],
  ['runbook trait remove CUSTOM_{P}BOOK CUSTOM_{P}BOOK'],
  ['runbook delete CUSTOM_{P}BOOK'],
  ['chassis delete {chassis}'],
];

export const lines: readonly Line[] = [service, books, network, volumes, plans, verbs, machine, ends].flat();

/** Commands of `baremetal help` without a successful call above, each with the reason. */
export const withoutSuccess: Readonly<Record<string, string>> = {
  'driver passthru call': 'no driver of ours has a method of its own; that the call is refused is in the table',
};
