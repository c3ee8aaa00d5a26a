/** Asking for verbs on one node of an API of its own: what tests of the provision request share. */
import { addWorker, type Reply, startTestApi, type TestApi } from './api';
import { lessee, owner, type Persona } from './world';

/** The id of a run that holds a node, where a test needs one. */
export const holder = '33333333-3333-4333-8333-333333333333';

export const image = { image_source: 'https://images.example.org/os.img', image_checksum: 'a'.repeat(64) };

/** A redfish node that can be deployed, cleaned in the ramdisk and rescued. */
export const deployable = {
  name: 'n1',
  driver: 'redfish',
  owner,
  lessee,
  driver_info: { redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/ramdisk.iso' },
  instance_info: image,
};

export type Provisioning = {
  readonly api: TestApi;
  /** Writes columns of the node, as runs would. */
  set(columns: Record<string, unknown>): Promise<unknown>;
  ask(body: unknown, how?: { who?: Persona; minor?: number }): Promise<Reply>;
  /** How many orders of any kind reached the runs. */
  asked(): number;
  /** Forgets all nodes, runbooks and orders, and enrols the node anew in a state. */
  fresh(state: string, more?: Record<string, unknown>): Promise<string>;
};

type Options = Parameters<typeof startTestApi>[0];

/** An API with a worker and, after `fresh`, one node named n1. */
export const startProvisioning = async (options?: Options): Promise<Provisioning> => {
  const api = await startTestApi(options);
  await addWorker(api.sql);
  let uuid = '';
  const set = async (columns: Record<string, unknown>) =>
    api.sql`update nodes set ${api.sql(columns)} where name = 'n1'`;
  return {
    api,
    set,
    ask: (body, { who = 'operator', minor } = {}) =>
      api.as(who, 'PUT', `/v1/nodes/${minor !== undefined && minor < 5 ? uuid : 'n1'}/states/provision`, {
        body,
        minor,
      }),
    asked: () => api.runs.started.length + api.runs.moved.length + api.runs.sent.length,
    async fresh(provision_state, more = {}) {
      await api.sql`delete from nodes`;
      await api.sql`delete from runbooks`;
      Object.assign(api.runs, { started: [], moved: [], sent: [] });
      const made = await api.as('operator', 'POST', '/v1/nodes', { body: { ...deployable, ...more } });
      uuid = made.body.uuid;
      await set({ provision_state });
      return uuid;
    },
  };
};
