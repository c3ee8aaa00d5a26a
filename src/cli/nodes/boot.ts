/** `temper boot`: set-up of dnsmasq on the host that serves a boot network. */
import type { Command } from 'commander';
import type { Acting, Context } from '../context';
import { stop } from '../faults';

type DnsmasqOptions = {
  readonly dir?: string;
  readonly interface: string;
  readonly range?: string;
  readonly proxy?: string;
  readonly discovery?: string | true;
  readonly netmask: string;
  readonly lease: string;
  readonly router?: string;
  readonly url: string;
  readonly secureBoot?: boolean;
  readonly loaders?: string;
};

const endsOf = (range: string, option: string): readonly [string, string] => {
  const [first, last, ...more] = range.split(',');
  if (!first || !last || more.length > 0) return stop('usage', `${option} is two addresses with a comma between.`);
  return [first, last];
};

const dnsmasq = async (
  { installation, print }: Context,
  { range, discovery, secureBoot = false, ...given }: DnsmasqOptions,
): Promise<void> => {
  const wanted = {
    ...given,
    secureBoot,
    ...(range !== undefined && { range: endsOf(range, '--range') }),
    ...(discovery !== undefined && { discovery: discovery === true || endsOf(discovery, '--discovery') }),
  };
  const config = await installation().prepareDhcp(wanted);
  print({ config }, () => `Written: ${config}\nStart it with: dnsmasq --keep-in-foreground --conf-file=${config}\n`);
};

export const addBoot = (program: Command, acting: Acting): void => {
  program
    .command('boot')
    .description('what stands beside the boot service on a boot network')
    .command('dnsmasq')
    .description('write the configuration and the boot loaders of dnsmasq, for machines that boot by the network')
    .requiredOption('--interface <name>', 'network interface that machines are on')
    .requiredOption('--url <url>', 'the boot service as machines reach it, such as http://192.0.2.1:6386')
    .option('--range <first,last>', 'addresses that are given out')
    .option('--proxy <network>', 'address of a network that has its own DHCP server, in place of --range')
    .option(
      '--discovery [first,last]',
      'answer also machines without a node; beside --range with addresses of their own',
    )
    .option('--netmask <mask>', 'of the network', '255.255.255.0')
    .option('--lease <time>', 'for how long an address is given out', '1h')
    .option('--router <address>', 'router of the machines; none when absent')
    .option('--secure-boot', 'signed boot loaders for machines whose firmware shows secure boot')
    .option('--loaders <folder>', 'where the packages of the boot loaders are unpacked; the system when absent')
    .option('--dir <folder>', 'folder that is written; TEMPER_BOOT_DHCP_DIR when absent')
    .action(acting(dnsmasq));
};
