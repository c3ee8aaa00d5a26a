/** Settings from a redfish node's driver_info. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BmcAddress, parseBmcAddress } from '../../../model/access/bmc-addresses';
import { systemIdFault, systemUuidFault, trustOf } from '../../../model/access/redfish-info';
import { sha256Of } from '../../../model/digests';
import { raise } from '../../../model/errors';
import { isDriver, ownKey, withDriverKeys } from '../../../model/lifecycle/drivers';
import type { BmcNode } from '../../contract';
import type { Tls } from '../../network';

type AuthType = 'auto' | 'basic' | 'session';

export type RedfishSettings = {
  readonly address: BmcAddress;
  /** Path with the prefix; undefined if the BMC has only one system. */
  readonly system: string | undefined;
  /** Undefined allows any system. */
  readonly systemUuid: string | undefined;
  readonly username: string | undefined;
  readonly password: string;
  /** false: any certificate; a path: a CA file or directory. */
  readonly verifyCa: boolean | string;
  readonly verifyCaField: string;
  readonly authType: AuthType;
  /** Nodes with equal keys share a session. Has a digest, never the password. */
  readonly key: string;
};

const authTypes: readonly AuthType[] = ['auto', 'basic', 'session'];

const textOrNone = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Throws DriverInfoInvalid naming the field. */
export const redfishSettings = (node: Pick<BmcNode, 'uuid' | 'name' | 'driver' | 'driver_info'>): RedfishSettings => {
  const called = node.name ?? node.uuid;
  const driver = isDriver(node.driver) ? node.driver : 'redfish';
  const info = { ...node.driver_info, ...withDriverKeys(driver, node.driver_info) };
  const refuse = (field: string, reason: string) =>
    raise('DriverInfoInvalid', { node: called, field: ownKey(driver, field), reason });
  const address = parseBmcAddress(node.driver_info, { driver, node: called })!;
  const given = textOrNone(info.redfish_system_id);
  const fault = systemIdFault(given);
  if (fault) refuse('redfish_system_id', fault);
  const systemUuid = textOrNone(info.redfish_system_uuid);
  const uuidFault = systemUuidFault(info.redfish_system_uuid);
  if (uuidFault) refuse('redfish_system_uuid', uuidFault);
  const authType = (textOrNone(info.redfish_auth_type) ?? 'auto') as AuthType;
  if (!authTypes.includes(authType)) refuse('redfish_auth_type', `is not one of ${authTypes.join(', ')}`);
  const username = textOrNone(info.redfish_username);
  const password = textOrNone(info.redfish_password) ?? '';
  const trust = trustOf(info.redfish_verify_ca);
  const verifyCa = typeof trust === 'boolean' ? trust : trust.path;
  const digest = sha256Of(password);
  return {
    address,
    system: given && (given.startsWith(`${address.prefix}/`) ? given : `${address.prefix}${given}`),
    systemUuid,
    username,
    password,
    verifyCa,
    verifyCaField: ownKey(driver, 'redfish_verify_ca'),
    authType,
    key: JSON.stringify([address.origin, address.prefix, username, digest, verifyCa, authType]),
  };
};

const maxCaBytes = 1024 * 1024;
const maxCaFiles = 300;

/** A caller's path may be a device, which never ends. */
const readCa = async (path: string): Promise<string> => {
  const found = await stat(path);
  if (!found.isFile() || found.size > maxCaBytes) throw new Error('not a CA file');
  return readFile(path, 'utf8');
};

const certificates = async (path: string): Promise<string[]> => {
  if (!(await stat(path)).isDirectory()) return [await readCa(path)];
  const names = (await readdir(path)).filter((name) => /\.(pem|crt|cer)$/i.test(name)).slice(0, maxCaFiles);
  return Promise.all(names.map((name) => readCa(join(path, name))));
};

/** Throws DriverInfoInvalid. */
export const tlsOf = async (settings: RedfishSettings, node: string): Promise<Tls> => {
  if (typeof settings.verifyCa === 'boolean') return { rejectUnauthorized: settings.verifyCa };
  try {
    const ca = await certificates(settings.verifyCa);
    if (ca.length > 0 && ca.every((text) => text.includes('-----BEGIN CERTIFICATE-----')))
      return { rejectUnauthorized: true, ca };
  } catch {
    // All failures get the error below, as a caller must not learn what the path leads to.
  }
  return raise('DriverInfoInvalid', {
    node,
    field: settings.verifyCaField,
    reason: 'names no readable PEM certificate on this worker',
  });
};
