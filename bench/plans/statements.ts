/** The statements that the API sends for requests: the API itself in this process, on a store that writes down what it is asked. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiContext, createApi, createStreams } from '../../src/api';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { newPair } from '../../src/inventory/secrets/sealed-box';
import { createDigests, createSealer } from '../../src/inventory/secrets/sealing';
import { createVault } from '../../src/inventory/secrets/vault';
import { maxVersion } from '../../src/model/resources/microversions';
import { createPolicy, personas } from '../../src/policy';
import { apiSettings } from '../../src/process/settings/api-settings';
import { processes } from '../../src/process/settings/config';
import { parseSettings } from '../../src/process/settings/read';
import type { Asked, Asker } from './asked';

export type Statement = { readonly text: string; readonly values: readonly unknown[] };
/** A statement, and the first request that sent it. */
export type Found = Statement & { readonly asked: Asked };

const callers = { operator: personas['system-admin'], lessee: personas['lessee-reader'] } as const satisfies Record<
  Asker,
  unknown
>;

const ignored = () => {};

/** The settings that an API requires. All others have their defaults. */
const required = {
  TEMPER_DATABASE_URL: 'postgres://127.0.0.1:9/temper',
  TEMPER_TEMPORAL_ADDRESS: '127.0.0.1:9',
  TEMPER_SECRETS_PUBLIC_KEYS: `plans:${newPair().publicRaw.toString('base64')}`,
  TEMPER_DIGEST_KEYS: `plans:${Buffer.alloc(32).toString('base64')}`,
  TEMPER_BMC_NETWORKS: '10.0.0.0/8',
  TEMPER_AUTH_STRATEGY: 'noauth',
};

/** The rooms that reading needs; nothing here starts a run. */
const roomsOn = (url: string, sent: Statement[], publicEndpoint: string | null) => {
  const sql = connect(url, { max: 1 });
  sql.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  const inventory = createInventory(sql);
  const log = { info: ignored, warn: ignored, error: console.error };
  const policy = createPolicy({ set: 'temper' });
  const rooms: ApiContext = {
    policy: () => policy,
    identity: { identify: async ({ token }) => callers[token as Asker] },
    inventory,
    vault: {
      ...createSealer([{ id: 'plans', group: null, raw: newPair().publicRaw }]),
      ...createDigests(new Map([['plans', Buffer.alloc(32)]])),
    },
    webhookVault: createVault(new Map([['plans', Buffer.alloc(32)]])),
    runs: { look: async () => ({ sources: [] }) } as unknown as ApiContext['runs'],
    streams: createStreams({ inventory, log }),
    log,
    settings: { ...apiSettings(parseSettings(processes.api, required)), publicEndpoint },
  };
  return { rooms, inventory };
};

const askIn = async (url: string, { as, path }: Asked): Promise<void> => {
  const headers = { 'X-Auth-Token': as, 'X-OpenStack-Ironic-API-Version': maxVersion };
  const response = await fetch(`${url}${path}`, { headers });
  await response.arrayBuffer();
  // What is not there, or not for the caller, was looked for all the same.
  if (![200, 403, 404].includes(response.status)) throw new Error(`GET ${path} answered ${response.status}`);
};

const isRead = ({ text }: Statement): boolean =>
  /^\s*(select|with)\b/i.test(text) && !/\b(insert into|delete from|for update|pg_notify|pg_catalog)\b/i.test(text);

/**
 * Every reading statement that these requests lead to, each once.
 * @param publicEndpoint what links begin with, which is a parameter of lists; the API's own address when absent
 */
export const statementsOf = async (
  databaseUrl: string,
  requests: readonly Asked[],
  publicEndpoint: string | null = null,
): Promise<Found[]> => {
  const sent: Statement[] = [];
  const { rooms, inventory } = roomsOn(databaseUrl, sent, publicEndpoint);
  const server = createServer(createApi(rooms)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = new Map<string, Found>();
  try {
    for (const asked of requests) {
      sent.length = 0;
      await askIn(url, asked);
      for (const one of sent.filter(isRead)) {
        const key = JSON.stringify([one.text.replace(/\s+/g, ' '), one.values]);
        if (!found.has(key)) found.set(key, { ...one, asked });
      }
    }
  } finally {
    rooms.streams.close();
    server.closeAllConnections();
    server.close();
    await inventory.close();
  }
  return [...found.values()];
};
