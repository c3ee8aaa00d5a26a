/** Which settings each process reads: one table, of which a process is a row. */
import { z } from 'zod';
import { api } from './api';
import { booted, booting } from './boot';
import { consoling } from './console';
import { served } from './http';
import { migrate } from './migrate';
import { admitting, granting } from './rollouts';
import { timing } from './runs';
import { common, engine, images, networks, opening, sealing, store, tracing, webhooks } from './shared';
import { audit, history, powerSync, serialConsole, worker } from './workers';

/** By process; docs/settings.md is made of it. */
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
    ...served,
    ...api,
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
    ...admitting,
    ...granting,
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
    ...booted,
    ...worker,
    ...powerSync,
    ...serialConsole,
  }),
  boot: z.object({
    ...common,
    ...store,
    ...booting,
    // What machines without a node are booted into.
    TEMPER_DISCOVERY: api.TEMPER_DISCOVERY,
    TEMPER_DEFAULT_RAMDISK: api.TEMPER_DEFAULT_RAMDISK,
    TEMPER_RAMDISK_API_URL: booted.TEMPER_RAMDISK_API_URL,
    ...images,
    TEMPER_TRUSTED_PROXIES: served.TEMPER_TRUSTED_PROXIES,
    TEMPER_HEADERS_TIMEOUT_MS: served.TEMPER_HEADERS_TIMEOUT_MS,
    TEMPER_REQUEST_TIMEOUT_MS: served.TEMPER_REQUEST_TIMEOUT_MS,
    TEMPER_KEEP_ALIVE_TIMEOUT_MS: served.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
    TEMPER_MAX_CONNECTIONS: served.TEMPER_MAX_CONNECTIONS,
  }),
  console: z.object({
    ...common,
    ...consoling,
    TEMPER_HEADERS_TIMEOUT_MS: served.TEMPER_HEADERS_TIMEOUT_MS,
    TEMPER_REQUEST_TIMEOUT_MS: served.TEMPER_REQUEST_TIMEOUT_MS,
    TEMPER_KEEP_ALIVE_TIMEOUT_MS: served.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
    TEMPER_MAX_CONNECTIONS: served.TEMPER_MAX_CONNECTIONS,
    TEMPER_CONNECTIONS_PER_ADDRESS: served.TEMPER_CONNECTIONS_PER_ADDRESS,
    TEMPER_TRUSTED_PROXIES: served.TEMPER_TRUSTED_PROXIES,
  }),
  migrate: z.object({ ...common, ...store, ...migrate }),
} as const;

export type ApiConfig = z.infer<typeof processes.api>;
export type ControlConfig = z.infer<typeof processes.control>;
export type BmcConfig = z.infer<typeof processes.bmc>;
export type BootConfig = z.infer<typeof processes.boot>;
export type ConsoleConfig = z.infer<typeof processes.console>;
