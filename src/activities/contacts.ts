/** Activities of the wait for a ramdisk; all idempotent. */

import type { Inventory, Queries } from '../inventory';
import { raise } from '../model/errors';
import { errorOf, factsOf, missingFacts } from '../model/inspection/inspection';
import type { ProvisionState } from '../model/lifecycle/states';
import type { Awaited } from '../model/lifecycle/step-types';
import type { Log } from '../model/log';
import type { Lock } from '../model/runs/runs';
import { guarded } from './failures';
import { applyInspectionRules } from './inspection-rules';
import { heldNode, moveNode } from './moves';

type StepProjection = { readonly lock: Lock; readonly seq: number; readonly index: number };
export type AwaitInput = StepProjection & { readonly awaits: Awaited; readonly waiting_for: string | null };

const refuseInspection = (reason: string) => raise('StepRejected', { step: 'management.inspect', reason });

/** Throws StepRejected for a failure of the ramdisk or missing facts. */
const takeFindings = async (store: Queries, lock: Lock, log: Log): Promise<void> => {
  const found = await store.details.inventory(lock.node_uuid);
  const error = errorOf(found?.plugin_data ?? {});
  if (error !== undefined) refuseInspection(`the ramdisk reports: ${error}`);
  const facts = factsOf(found?.inventory ?? {});
  const missing = missingFacts(facts);
  if (missing.length > 0) refuseInspection(`the ramdisk did not say ${missing.join(', ')}`);
  await store.observedFacts.write(lock, facts);
  await applyInspectionRules(store, lock, log);
};

/** A second ramdisk ends the wait too, so that the run fails. */
const contactedIn = async (store: Queries, lock: Lock, awaits: Awaited): Promise<boolean> =>
  (await store.contacts.there(lock, awaits)) || (await store.ramdiskBoots.contested(lock));

/** Throws RamdiskConflict if two ramdisks contacted the API since the boot. */
const refuseTwo = async (store: Queries, lock: Lock): Promise<void> => {
  if (await store.ramdiskBoots.contested(lock)) raise('RamdiskConflict', { node: lock.node_uuid });
};

export const contactActivities = (inventory: Inventory, log: Log) => ({
  /** @returns the node's state, and whether the ramdisk has called back already */
  awaitContact: guarded(
    async ({ lock, seq, index, awaits, waiting_for }: AwaitInput): Promise<Awaiting> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        const answer = async (provision_state: ProvisionState): Promise<Awaiting> => ({
          provision_state,
          contacted: await contactedIn(store, lock, awaits),
        });
        if (!(await store.runs.advance(lock, seq, 'waiting', waiting_for))) return answer(node.provision_state);
        await store.runSteps.mark(lock, index, 'waiting', {});
        await store.contacts.await(lock, awaits);
        return answer(await moveNode(store, lock, node, 'wait', { awaits }));
      }),
  ),

  /** Reads the database, in case a signal was lost. */
  contacted: guarded(
    async ({ lock, awaits }: { lock: Lock; awaits: Awaited }): Promise<{ contacted: boolean }> => ({
      contacted: await contactedIn(inventory, lock, awaits),
    }),
  ),

  contactReceived: guarded(
    async ({ lock, seq, index }: StepProjection): Promise<{ provision_state: ProvisionState }> =>
      inventory.transaction(async (store) => {
        const node = await heldNode(store, lock);
        if (!(await store.runs.advance(lock, seq, 'running', null))) return { provision_state: node.provision_state };
        await refuseTwo(store, lock);
        if ((await store.contacts.awaited(lock)) === 'inspection') await takeFindings(store, lock, log);
        await store.contacts.await(lock, null);
        const provision_state = await moveNode(store, lock, node, 'resume');
        await store.runSteps.mark(lock, index, 'done', {});
        return { provision_state };
      }),
  ),
});

export type Awaiting = { readonly provision_state: ProvisionState; readonly contacted: boolean };
