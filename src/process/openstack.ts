/** A session as Temper's own user at Keystone, from settings. */
import { createServiceSession, type ServiceSession } from '../identity';
import { serviceUserOf } from './api/identity';
import type { ControlConfig } from './settings/config';
import { ConfigFault } from './settings/fault';

export type SessionSettings = Parameters<typeof serviceUserOf>[0] &
  Pick<ControlConfig, 'TEMPER_IDENTITY_URL' | 'TEMPER_OPENSTACK_REGION' | 'TEMPER_OPENSTACK_INTERFACES'>;

const needed = ['TEMPER_IDENTITY_URL', 'TEMPER_IDENTITY_USERNAME', 'TEMPER_IDENTITY_PASSWORD'] as const;

/** @param setting the one that needs the session. @throws ConfigFault without an account */
export const sessionFrom = (config: SessionSettings, setting: string): ServiceSession => {
  const missing = needed.filter((name) => config[name] === undefined);
  if (missing.length > 0) throw new ConfigFault(missing.map((name) => `${name}: is not set, and ${setting} needs it.`));
  return createServiceSession({
    identityUrl: config.TEMPER_IDENTITY_URL!,
    self: serviceUserOf(config),
    region: config.TEMPER_OPENSTACK_REGION,
    interfaces: config.TEMPER_OPENSTACK_INTERFACES,
  });
};
