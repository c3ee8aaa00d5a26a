/** Rollouts over HTTP with a coordinator that the test calls itself: its store and its acceptance are real, and no engine is there. */

import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import type { NodeUuid, RolloutUuid } from '../../src/model/ids';
import { createPolicy, type PolicyOptions } from '../../src/policy';
import { advanceRollout } from '../../src/rollouts/advance';
import type { RolloutDeps } from '../../src/rollouts/contract';
import { createPrepareFor } from '../../src/rollouts/prepare';
import { accept } from '../../src/runs/accept';
import { startTestApi } from './api';
import { quickTiming } from './engine';
import { endOf } from './rollouts';
import { defaultSettings } from './settings';
import { testVault } from './vault';
import { owner, type Persona } from './world';

const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const reboot = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];

/** Rules by which no tenant is asked about a rollout that an administrator plans. */
export const unasked = { 'temper:rollout:without_consent': 'role:admin and system_scope:all' };

/** @param settings of the API that differ from the defaults */
export const startRolloutWorld = async (settings: Parameters<typeof startTestApi>[0] = {}) => {
  const { voters } = settings;
  const api = await startTestApi(settings);
  const control = connect(api.controlUrl, { max: 4 });
  const inventory = createInventory(control);
  let policy = createPolicy({ set: 'temper' });
  const setPolicy = (options: PolicyOptions): void => {
    policy = createPolicy(options);
    api.setPolicy(options);
  };
  setPolicy({ set: 'temper' });
  const deps: RolloutDeps = {
    inventory,
    runs: {
      start: async (order, before) => {
        const { input } = await accept(order, {
          inventory,
          vault: testVault,
          timing: quickTiming,
          ...(before && { before }),
        });
        return { run: input.lock.run };
      },
      operate: async () => 'taken',
    },
    prepareFor: createPrepareFor({ policy: () => policy, inventory, settings: defaultSettings }),
    authority: async () => 'holds',
    policy: () => policy,
    voters,
    log: quiet,
  };
  await api.sql`
    insert into workers (hostname, drivers, role, updated_at) values ('w', '{fake-hardware}', 'bmc', now() + interval '1 day')`;

  const posted = async (who: Persona, path: string, body: unknown) => {
    const reply = await api.as(who, 'POST', path, { body });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
    return reply.body;
  };
  const act = (
    rollout: { uuid: string; plan_hash?: string },
    name: string,
    body: object = {},
    who: Persona = 'owner-manager',
  ) => api.as(who, 'POST', `/temper/v1/rollouts/${rollout.uuid}/${name}`, { body: { reason: 'because', ...body } });

  return {
    api,
    deps,
    setPolicy,
    posted,
    act,
    /** Nodes of the owner in these racks, each with a trait that approves the runbook of that name. */
    nodes: async (racks: readonly string[], values: object = {}): Promise<NodeUuid[]> => {
      const rows = racks.map((rack) => ({
        driver: 'fake-hardware',
        owner,
        provision_state: 'active',
        power_state: 'power on',
        traits: ['CUSTOM_RESTART'],
        properties: api.sql.json({ rack }),
        ...values,
      }));
      return (await api.sql<{ uuid: NodeUuid }[]>`insert into nodes ${api.sql(rows as never)} returning uuid`).map(
        ({ uuid }) => uuid,
      );
    },
    /** A public runbook that restarts a node. */
    runbook: (name: string) => posted('operator', '/v1/runbooks', { name, public: true, steps: reboot }),
    plan: (over: object = {}, who: Persona = 'owner-manager') =>
      posted(who, '/temper/v1/rollouts', {
        runbook: 'CUSTOM_RESTART',
        budget: { total: '100%' },
        waves: [{ rest: true }],
        ...over,
      }),
    start: async (rollout: { uuid: string; plan_hash: string }, body: object = {}, who: Persona = 'owner-manager') => {
      const reply = await act(rollout, 'start', { plan_hash: rollout.plan_hash, ...body }, who);
      if (reply.status !== 200) throw new Error(reply.text);
      return reply.body;
    },
    show: async (rollout: { uuid: string }, who: Persona = 'operator') =>
      (await api.as(who, 'GET', `/temper/v1/rollouts/${rollout.uuid}`)).body,
    targets: async (rollout: { uuid: string }, query = '', who: Persona = 'operator') =>
      (await api.as(who, 'GET', `/temper/v1/rollouts/${rollout.uuid}/targets${query}`)).body.targets,
    /** One look of a coordinator. */
    tend: (rollout: { uuid: string }, over: Partial<RolloutDeps> = {}) =>
      advanceRollout({ ...deps, ...over }, rollout.uuid as RolloutUuid),
    /** Ends the runs of a rollout that are under way. */
    endRuns: async (rollout: { uuid: string }, outcome: 'succeeded' | 'failed' = 'succeeded') => {
      const runs = await api.sql<Parameters<typeof endOf>[1][]>`
        select r.id, r.node_uuid, r.fence, r.verb from runs r where r.batch = ${rollout.uuid} and r.finished_at is null`;
      for (const run of runs) await endOf(inventory, run, outcome);
    },
    close: async () => {
      await control.end();
      await api.close();
    },
  };
};

/** A world with the public runbook that its rollouts run. */
export const startRestartWorld = async (): Promise<RolloutWorld> => {
  const world = await startRolloutWorld();
  await world.runbook('CUSTOM_RESTART');
  return world;
};

export type RolloutWorld = Awaited<ReturnType<typeof startRolloutWorld>>;
