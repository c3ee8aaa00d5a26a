/** `temper discovered`: machines without a node, which operators enrol, refuse or remove. */
import type { Command } from 'commander';
import type { DiscoveredMachine, EnrolledMachine } from '../../wire/records';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { withFormats } from '../formats';
import { collect } from '../options';
import { keyLines, listing, plainText } from '../tables';

type Listed = PageOptions & { readonly state?: string };
type Enrolled = {
  readonly driver: string;
  readonly name?: string;
  readonly driverInfo: readonly string[];
  readonly resourceClass?: string;
  readonly conductorGroup?: string;
  readonly owner?: string;
  readonly revision?: string;
};

const path = '/temper/v1/discovered-machines';
const machinePath = (uuid: string): string => `${path}/${encodeURIComponent(uuid)}`;

const tableOf = listing<DiscoveredMachine>(
  'discovered machines',
  ['MACHINE', 'STATE', 'MAC', 'CARDS', 'ARCH', 'BMC', 'PRODUCT', 'FROM', 'CONTESTED', 'LAST SEEN'],
  (one) => [
    one.uuid,
    one.state,
    one.boot_mac ?? one.macs[0],
    String(one.macs.length),
    one.arch,
    one.bmc_address,
    [one.vendor, one.product].filter(Boolean).join(' '),
    one.sender,
    one.contested ? 'yes' : 'no',
    one.last_seen_at,
  ],
);

const machines = { path, rows: 'discovered_machines' };
const list = (context: Context, given: Listed): Promise<void> => printPage(context, machines, given, tableOf);

const show = async ({ api, print }: Context, uuid: string): Promise<void> =>
  print((await api.send('GET', machinePath(uuid))) as DiscoveredMachine, keyLines);

/** Parses `key=value` pairs. Throws CliFault (usage). */
const pairsOf = (given: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      return at > 0
        ? [text.slice(0, at), text.slice(at + 1)]
        : stop('usage', `--driver-info takes KEY=VALUE, not ${plainText(text)}.`);
    }),
  );

const enroll = async ({ api, print }: Context, uuid: string, given: Enrolled): Promise<void> => {
  const driver_info = pairsOf(given.driverInfo);
  const revision = given.revision ?? ((await api.send('GET', machinePath(uuid))) as DiscoveredMachine).revision;
  const { driver, name, resourceClass: resource_class, conductorGroup: conductor_group, owner } = given;
  const body = { revision, driver, driver_info, name, resource_class, conductor_group, owner };
  print(
    (await api.send('POST', `${machinePath(uuid)}/enroll`, body)) as EnrolledMachine,
    ({ node_uuid, provision_state }) => `Node ${node_uuid} is enrolled (${provision_state}).\n`,
  );
};

const refuse = async (
  { api, print }: Context,
  uuid: string,
  { reason }: { readonly reason: string },
): Promise<void> => {
  print(
    (await api.send('POST', `${machinePath(uuid)}/refuse`, { reason })) as DiscoveredMachine,
    () => `${plainText(uuid)} is refused.\n`,
  );
};

const remove = async ({ api, print }: Context, uuid: string): Promise<void> => {
  await api.send('DELETE', machinePath(uuid));
  print({ uuid }, () => `The record of ${plainText(uuid)} is removed.\n`);
};

export const addDiscovered = (program: Command, acting: Acting): void => {
  const discovered = program.command('discovered').description('machines without a node that reported themselves');
  pageOptions(
    discovered
      .command('list')
      .description('those that were seen first come first')
      .option('--state <state>', 'waiting or refused; both when absent'),
    'machine',
  ).action(acting(list));
  withFormats(discovered.command('show').description('one, with its inventory').argument('<machine>')).action(
    acting(show),
  );
  discovered
    .command('enroll')
    .description('make it a node, with its ports and its inventory')
    .argument('<machine>')
    .requiredOption('--driver <driver>', 'such as redfish')
    .option('--name <name>', 'of the node')
    .option('--driver-info <key=value>', 'how its BMC is reached; may be given several times', collect, [])
    .option('--resource-class <class>', 'of the node')
    .option('--conductor-group <group>', 'of the node')
    .option('--owner <project>', 'of the node')
    .option('--revision <revision>', 'of the record as it was read; the present one when absent')
    .action(acting(enroll));
  discovered
    .command('refuse')
    .description('keep it from being enrolled, and its next reports from making another record')
    .argument('<machine>')
    .requiredOption('--reason <text>', 'for other operators')
    .action(acting(refuse));
  discovered
    .command('remove')
    .description('forget its record; it is recorded again when it reports itself again')
    .argument('<machine>')
    .action(acting(remove));
};
