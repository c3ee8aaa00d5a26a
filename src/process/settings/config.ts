/** Settings by process. */
import { z } from 'zod';
import { api } from './api';
import { bootServiceSettings, ramdiskBootSettings } from './boot';
import { consoleSettings } from './console';
import { httpSettings } from './http';
import { migrate } from './migrate';
import { notificationSettings } from './notifications';
import { glance, openstack } from './openstack';
import { admissionSettings, roleLookupSettings, serviceUserSettings } from './rollouts';
import { timing } from './runs';
import { common, engine, images, networks, opening, sealing, store, tracing, webhooks } from './shared';
import { audit, history, powerSync, serialConsole, worker } from './workers';

/** docs/settings.md is generated from this table. */
export const processes = {
  api: z.object({
    ...common,
    ...store,
    ...engine,
    ...sealing,
    ...networks,
    ...images,
    ...timing,
    ...tracing,
    ...webhooks,
    ...httpSettings,
    ...api,
    ...glance,
  }),
  control: z.object({
    ...common,
    ...store,
    ...engine,
    ...tracing,
    ...webhooks,
    ...audit,
    ...history,
    ...worker,
    ...timing,
    ...images,
    ...admissionSettings,
    ...roleLookupSettings,
    ...openstack,
  }),
  bmc: z.object({
    ...common,
    ...store,
    ...engine,
    ...opening,
    ...networks,
    ...images,
    ...timing,
    ...tracing,
    ...ramdiskBootSettings,
    ...worker,
    ...powerSync,
    ...serialConsole,
  }),
  boot: z.object({
    ...common,
    ...store,
    ...bootServiceSettings,
    // Discovery boot of machines without a node.
    TEMPER_DISCOVERY: api.TEMPER_DISCOVERY,
    TEMPER_DEFAULT_RAMDISK: api.TEMPER_DEFAULT_RAMDISK,
    TEMPER_RAMDISK_API_URL: ramdiskBootSettings.TEMPER_RAMDISK_API_URL,
    ...images,
    ...glance,
    ...serviceUserSettings,
    TEMPER_TRUSTED_PROXIES: httpSettings.TEMPER_TRUSTED_PROXIES,
    TEMPER_HEADERS_TIMEOUT_MS: httpSettings.TEMPER_HEADERS_TIMEOUT_MS,
    TEMPER_REQUEST_TIMEOUT_MS: httpSettings.TEMPER_REQUEST_TIMEOUT_MS,
    TEMPER_KEEP_ALIVE_TIMEOUT_MS: httpSettings.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
    TEMPER_MAX_CONNECTIONS: httpSettings.TEMPER_MAX_CONNECTIONS,
  }),
  console: z.object({
    ...common,
    ...consoleSettings,
    TEMPER_HEADERS_TIMEOUT_MS: httpSettings.TEMPER_HEADERS_TIMEOUT_MS,
    TEMPER_REQUEST_TIMEOUT_MS: httpSettings.TEMPER_REQUEST_TIMEOUT_MS,
    TEMPER_KEEP_ALIVE_TIMEOUT_MS: httpSettings.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
    TEMPER_MAX_CONNECTIONS: httpSettings.TEMPER_MAX_CONNECTIONS,
    TEMPER_CONNECTIONS_PER_ADDRESS: httpSettings.TEMPER_CONNECTIONS_PER_ADDRESS,
    TEMPER_TRUSTED_PROXIES: httpSettings.TEMPER_TRUSTED_PROXIES,
  }),
  notifications: z.object({ ...common, ...store, ...notificationSettings }),
  migrate: z.object({ ...common, ...store, ...migrate }),
} as const;

export type ApiConfig = z.infer<typeof processes.api>;
export type ControlConfig = z.infer<typeof processes.control>;
export type BmcConfig = z.infer<typeof processes.bmc>;
export type BootConfig = z.infer<typeof processes.boot>;
export type ConsoleConfig = z.infer<typeof processes.console>;
export type NotificationsConfig = z.infer<typeof processes.notifications>;
