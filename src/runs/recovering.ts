/** Recovery after a restore: compares PostgreSQL, Temporal and BMCs, and performs the listed actions on request. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Inventory } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { RunRow } from '../inventory/runs/runs';
import type { NodeUuid, RunUuid } from '../model/ids';
import type { Log } from '../model/log';
import type { Timing } from '../model/runs/runs';
import { partsOfId } from '../workflows/contract';
import { catchUp, ramdiskOf } from './catching-up';
import type { Recovered } from './contract';
import { createEngine, type Engine } from './engine';
import { endAs, type GoneVerdict } from './gone';
import { powerLines } from './powers';
import { resumeRun } from './resuming';

export type RecoveryDeps = {
  readonly inventory: Inventory;
  readonly client: Client;
  readonly log: Log;
  readonly queuePrefix?: string;
  readonly timing: Timing;
};

/** One action. Without `act`, control workers do it after the recovery. */
type Line = {
  readonly says: string;
  /** Node whose power is compared with its BMC. */
  readonly node: NodeUuid;
  readonly act?: () => Promise<unknown>;
  /** Runs after the freeze. */
  readonly after?: () => Promise<unknown>;
};
const all = 100_000;
// Concurrent calls to Temporal; an operator waits for the list.
const looksAtOnce = 20;
// The clocks of PostgreSQL and Temporal may differ.
const marginMs = 60 * 60_000;
const forgotten = (run: string): string =>
  `Run ${run} was carried out here and is not in the restored database: look at power, boot device and virtual media.`;
const unknowable =
  'Database and workflow engine were both set back to a backup, so what was done since cannot be known: look at the node.';
const resultsLost =
  'The inspection had succeeded, but what it found is not in the restored database: inspect the node again.';

const outcomes = { succeeded: 'succeeds', failed: 'fails', aborted: 'is aborted' } as const;

/** A run that only its workflow has ended. Undefined if the workflow has no result. */
const asItEnded = async (what: string, run: RunRow, engine: Engine, deps: RecoveryDeps): Promise<Line | undefined> => {
  const ending = await engine.ending(run.workflow_id);
  if (!ending) return undefined;
  const end = (verdict: GoneVerdict) => () => endAs(run, verdict, deps);
  if (run.verb === 'inspect' && ending.outcome === 'succeeded')
    return {
      node: run.node_uuid,
      says: `${what}: it has ended, and what it found is lost; it fails`,
      act: end({ outcome: 'failed', says: resultsLost }),
    };
  return {
    node: run.node_uuid,
    says: `${what}: its workflow has ended, and so does the run: it ${outcomes[ending.outcome]}`,
    act: end(ending),
  };
};

/** An inspection is idempotent, and findings since the backup are lost, so it runs again. */
const inspectedAnew = (what: string, run: RunRow, engine: Engine, deps: RecoveryDeps): Line => ({
  node: run.node_uuid,
  says: `${what}: what it has found may not be in the database; it is terminated, and goes on from its record`,
  async act() {
    await engine.terminate(run.workflow_id, 'What it has found is not in the restored database.');
    await resumeRun(run, 'The database was set back to a backup.', deps);
  },
});

/** A run whose workflow is ahead of its record. */
const goesOn = async (what: string, run: RunRow, engine: Engine, deps: RecoveryDeps): Promise<Line> => {
  const { inventory } = deps;
  const acts = await engine.begunActs(run.workflow_id);
  const now = await engine.projected(run.workflow_id);
  const ramdisk = now && (await ramdiskOf(run, now, inventory));
  const contact = (kind: 'lost' | 'unfreeze') =>
    engine.contact(run.workflow_id, { operationId: run.id, contactId: randomUUID(), kind });
  const parks = acts.length > 0 ? '; a command that may have left is not sent again' : '';
  const boots = ramdisk === 'lost' ? '; its ramdisk is booted again, for the database does not know it' : '';
  return {
    node: run.node_uuid,
    says: `${what}: its workflow goes on${now ? '' : ', and could not be asked where it is'}${parks}${boots}`,
    async act() {
      await inventory.recovery.doubt(run.id, acts);
      // Read again, because the workflow may have moved on.
      if (now && ramdisk) await catchUp(run, (await engine.projected(run.workflow_id)) ?? now, ramdisk, inventory);
      if (ramdisk === 'lost') await contact('lost');
    },
    after: () => contact('unfreeze'),
  };
};

const ofRun = async (run: RunRow, side: Recovery['side'], engine: Engine, deps: RecoveryDeps): Promise<Line> => {
  const what = `run ${run.id} (${run.verb} of node ${run.node_name ?? run.node_uuid})`;
  const { node_uuid: node } = run;
  const status = await engine.status(run.workflow_id);
  if (status !== 'UNKNOWN' && status !== 'RUNNING')
    return (
      (await asItEnded(what, run, engine, deps)) ?? {
        node,
        says: `${what}: its workflow was ended (${status}) and says nothing; the run fails or is aborted`,
      }
    );
  if (side === 'unknown')
    return {
      node,
      says: `${what}: record and workflow are both older than what was done; it is terminated, and the run fails`,
      async act() {
        await engine.terminate(run.workflow_id, unknowable);
        await endAs(run, { outcome: 'failed', says: unknowable }, deps);
      },
    };
  if (status === 'UNKNOWN') return { node, says: `${what}: Temporal does not know it; it goes on from its record` };
  if (side === 'store')
    return run.verb === 'inspect' ? inspectedAnew(what, run, engine, deps) : goesOn(what, run, engine, deps);
  return {
    node,
    says: `${what}: its workflow may be older than the record; it is terminated, and the run goes on from its record`,
    async act() {
      await engine.terminate(run.workflow_id, 'An older state of this run, after a restore.');
      await resumeRun(run, 'Its workflow was older than its record.', deps);
    },
  };
};

/** A run whose workflow began after the backup; undefined if none did. */
const ofAccepted = async (
  run: RunRow,
  side: Recovery['side'],
  engine: Engine,
  deps: RecoveryDeps,
): Promise<Line | undefined> => {
  if ((await engine.status(run.workflow_id)) === 'UNKNOWN') return undefined;
  const line = await ofRun(run, side, engine, deps);
  const { id, node_uuid, fence } = run;
  return {
    ...line,
    async act() {
      await deps.inventory.runs.claim({ run: id, node_uuid, fence }, await engine.execution(run.workflow_id));
      await line.act?.();
    },
  };
};

const itsNode = async (uuid: NodeUuid, inventory: Inventory): Promise<string> => {
  const name = (await inventory.nodes.find({ uuid }))?.name;
  return name ? `its node ${name}` : 'its node';
};

/** An open workflow without an open run in the database; undefined if there is one. */
const ofWorkflow = async (
  workflowId: string,
  engine: Engine,
  { inventory }: RecoveryDeps,
): Promise<Line | undefined> => {
  const parts = partsOfId(workflowId);
  const run = parts && (await inventory.runs.find(parts.run));
  if (!parts || (run && !run.finished_at)) return undefined;
  const end = () => engine.terminate(workflowId, 'The database has no open run for this workflow, after a restore.');
  const { node } = parts;
  if (run)
    return { node, says: `workflow ${workflowId}: its run has ended (${run.state}); it is terminated`, act: end };
  return {
    node,
    says: `workflow ${workflowId}: the database does not know its run; it is terminated, and ${await itsNode(node, inventory)} goes into maintenance`,
    async act() {
      await end();
      await setAside(parts, inventory);
    },
  };
};

/** A workflow closed since the backup, without a run in the database. */
const ofClosed = async (workflowId: string, { inventory }: RecoveryDeps): Promise<Line | undefined> => {
  const parts = partsOfId(workflowId);
  if (!parts || (await inventory.runs.find(parts.run))) return undefined;
  return {
    node: parts.node,
    says: `workflow ${workflowId}: it has ended, and the database does not know its run; ${await itsNode(parts.node, inventory)} goes into maintenance`,
    act: () => setAside(parts, inventory),
  };
};

/** Only an operator can see what an unknown run left on a node. Existing maintenance keeps its reason. */
const setAside = ({ node, run }: { node: NodeUuid; run: RunUuid }, inventory: Inventory): Promise<void> =>
  inventory.transaction(async (store) => {
    const found = await store.nodes.find({ uuid: node });
    if (!found || found.maintenance) return;
    const reason = forgotten(run);
    await store.nodes.setMaintenance(node, { maintenance: true, reason });
    await store.events.append({
      kind: 'node.maintenance.set',
      node_uuid: node,
      project: found.owner,
      lessee: found.lessee,
      data: { maintenance: true, maintenance_reason: reason },
    });
  });

const recoveryLines = async ({ side }: Recovery, engine: Engine, deps: RecoveryDeps): Promise<Line[]> => {
  const lines: Line[] = [];
  for await (const workflowId of engine.open(deps.queuePrefix)) {
    const line = await ofWorkflow(workflowId, engine, deps);
    if (line) lines.push(line);
  }
  const newest = await deps.inventory.recovery.newest();
  if (side !== 'engine' && newest) {
    const since = new Date(newest.getTime() - marginMs);
    // Executions of one run share its id.
    const ids = new Set<string>();
    for await (const workflowId of engine.closed(deps.queuePrefix, since)) ids.add(workflowId);
    for (const workflowId of ids) {
      const line = await ofClosed(workflowId, deps);
      if (line) lines.push(line);
    }
  }
  const limit = pLimit(looksAtOnce);
  const { runs } = deps.inventory;
  const [open, accepted] = [await runs.quiet(0, all), await runs.accepted()];
  const ofOpen = open.map((run) => limit(() => ofRun(run, side, engine, deps)));
  const ofOthers = accepted.map((run) => limit(() => ofAccepted(run, side, engine, deps)));
  const found = await Promise.all([...ofOpen, ...ofOthers]);
  return [...lines, ...found.filter((line) => line !== undefined)];
};

/**
 * Compares PostgreSQL, Temporal and BMCs after a restore.
 * @param yes performs the actions and ends the recovery; otherwise nothing is changed
 */
export const recover = async (deps: RecoveryDeps, yes: boolean): Promise<Recovered> => {
  const recovery = await deps.inventory.recovery.current();
  if (!recovery) return { recovery: null, lines: [] };
  const lines = await recoveryLines(recovery, createEngine(deps.client), deps);
  const powers = await powerLines(
    lines.map(({ node }) => node),
    deps,
  );
  if (yes) {
    for (const { act } of lines) await act?.();
    await deps.inventory.recovery.leave();
    // A run that misses the signal polls within a minute.
    for (const { after } of lines) await after?.().catch(() => {});
  }
  return { recovery, lines: [...lines.map(({ says }) => says), ...powers] };
};
