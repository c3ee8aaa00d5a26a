/** Settings from an ipmi node's driver_info. */
import { type BmcAddress, parseBmcAddress } from '../../model/access/bmc-addresses';
import { bridgeHops, bridgingOf, isGiven } from '../../model/access/ipmi-info';
import { raise } from '../../model/errors';
import type { BmcNode } from '../contract';

const privileges = ['ADMINISTRATOR', 'OPERATOR', 'USER', 'CALLBACK'] as const;

export type IpmiSettings = {
  readonly address: BmcAddress;
  readonly username: string | undefined;
  readonly password: string;
  readonly privilege: (typeof privileges)[number];
  /** `lanplus` is IPMI 2.0, `lan` is 1.5. */
  readonly transport: 'lanplus' | 'lan';
  readonly cipherSuite: number | undefined;
  readonly kgKey: Buffer | undefined;
  /** Options for a BMC behind another. */
  readonly bridge: readonly string[];
  readonly disableBootTimeout: boolean;
  readonly forceBootDevice: boolean;
};

type Refuse = (field: string, reason: string) => never;
type DriverInfo = BmcNode['driver_info'];

/** ipmitool reads a secret up to the line's end, and no argument may contain a NUL. */
const textLine = (info: DriverInfo, field: string, longest: number, refuse: Refuse): string | undefined => {
  const value = info[field];
  if (!isGiven(value)) return undefined;
  if (typeof value !== 'string') return refuse(field, 'is not a text');
  if (/[\0\r\n]/.test(value)) return refuse(field, 'holds a line break or a NUL');
  return Buffer.byteLength(value) > longest ? refuse(field, `is longer than ${longest} bytes`) : value;
};

const oneOf = <T extends string>(info: DriverInfo, field: string, known: readonly T[], refuse: Refuse): T => {
  const value = isGiven(info[field]) ? String(info[field]).toUpperCase() : known[0]!;
  return known.find((one) => one === value) ?? refuse(field, `is not one of ${known.join(', ')}`);
};

const parseBoolean = (info: DriverInfo, field: string, otherwise: boolean, refuse: Refuse): boolean => {
  if (!isGiven(info[field])) return otherwise;
  const value = String(info[field]).toLowerCase();
  return value === 'true' || (value === 'false' ? false : refuse(field, 'is not true or false'));
};

const suiteOf = (info: DriverInfo, transport: string, refuse: Refuse): number | undefined => {
  const given = info.ipmi_cipher_suite;
  if (!isGiven(given)) return undefined;
  if (transport === 'lan') return refuse('ipmi_cipher_suite', 'needs ipmi_protocol_version 2.0');
  return /^\d{1,3}$/.test(String(given)) ? Number(given) : refuse('ipmi_cipher_suite', 'is not a number');
};

/** ipmitool and BMCs pad a short key with zeros. */
const kgKeyOf = (info: DriverInfo, refuse: Refuse): Buffer | undefined => {
  const field = 'ipmi_hex_kg_key';
  const given = info[field];
  if (!isGiven(given)) return undefined;
  if (typeof given !== 'string' || !/^([0-9a-f]{2}){1,20}$/i.test(given))
    return refuse(field, 'is not an even number of hexadecimal digits, at most 40');
  const whole = Buffer.from(given, 'hex');
  const key = whole.subarray(0, whole.findLastIndex((byte) => byte !== 0) + 1);
  if (key.includes(0) || key.includes(10))
    return refuse(
      field,
      'holds a byte 00 or 0a, which ipmitool accepts only in a place that every user of the worker can read. Give the BMC another key',
    );
  return key;
};

// openstack/ironic:ironic/drivers/modules/ipmitool.py names the fields; ipmitool(1) the options.
const options = { transit: ['-B', '-T'], target: ['-b', '-t'] } as const;

const small = /^(0x[0-9a-f]{1,2}|\d{1,3})$/i;

const numberAt = (info: DriverInfo, field: string, refuse: Refuse): string => {
  const value = String(info[field] ?? '');
  return small.test(value) && Number(value) < 256 ? value : refuse(field, 'is not a number below 256');
};

const bridgeOf = (info: DriverInfo, refuse: Refuse): string[] => {
  const kind = bridgingOf(info);
  if (kind === undefined) return refuse('ipmi_bridging', 'is not one of no, single, dual');
  const hops = bridgeHops[kind].flatMap((hop) => [
    options[hop][0],
    numberAt(info, `ipmi_${hop}_channel`, refuse),
    options[hop][1],
    numberAt(info, `ipmi_${hop}_address`, refuse),
  ]);
  if (hops.length === 0 || !isGiven(info.ipmi_local_address)) return hops;
  return ['-m', numberAt(info, 'ipmi_local_address', refuse), ...hops];
};

const longestPassword = { lanplus: 20, lan: 16 } as const;

/** Throws DriverInfoInvalid naming the field, never its value. */
export const ipmiSettings = (node: Pick<BmcNode, 'uuid' | 'name' | 'driver_info'>): IpmiSettings => {
  const called = node.name ?? node.uuid;
  const info = node.driver_info;
  const refuse: Refuse = (field, reason) => raise('DriverInfoInvalid', { node: called, field, reason });
  const address = parseBmcAddress(info, { driver: 'ipmi', node: called })!;
  const transport = oneOf(info, 'ipmi_protocol_version', ['2.0', '1.5'], refuse) === '2.0' ? 'lanplus' : 'lan';
  const kgKey = kgKeyOf(info, refuse);
  if (kgKey && transport === 'lan') refuse('ipmi_hex_kg_key', 'needs ipmi_protocol_version 2.0');
  return {
    address,
    username: textLine(info, 'ipmi_username', 16, refuse),
    password: textLine(info, 'ipmi_password', longestPassword[transport], refuse) ?? '',
    privilege: oneOf(info, 'ipmi_priv_level', privileges, refuse),
    transport,
    cipherSuite: suiteOf(info, transport, refuse),
    kgKey,
    bridge: bridgeOf(info, refuse),
    disableBootTimeout: parseBoolean(info, 'ipmi_disable_boot_timeout', true, refuse),
    forceBootDevice: parseBoolean(info, 'ipmi_force_boot_device', false, refuse),
  };
};
