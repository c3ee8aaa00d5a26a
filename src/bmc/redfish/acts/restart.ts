/** Host restart within longer work: off, then on, each sent once over all attempts. */
import type { RunObserved } from '../../../model/runs/runs';
import type { ActContext } from '../../contract';
import { findSystem } from '../discovery/discovery';
import type { Ledger } from '../jobs/job-ledger';
import { type Client, createRedfishClient } from '../transport/client';
import { powerActs, powerStateOf, setPower } from './power';

const restartActs = { off: 'power_off', on: 'power_on' } as const;

/** Intents of the power acts are kept inside the ledger. Recorded as usual, they would overwrite it. */
const ledgerIntents = (client: Client, ledger: Ledger, key: string, is: 'off' | 'on'): Client => {
  const intents: ActContext['intents'] = {
    last: async () => {
      const power = ledger.restart(key)?.power;
      return power && { act: restartActs[is], sent_at: power.sent_at, at: power.sent, detail: power.detail };
    },
    record: (detail) => {
      const power = { detail, sent: performance.now(), sent_at: new Date().toISOString() };
      return ledger.putRestart(key, { is, power });
    },
    renew: client.context.intents.renew,
  };
  return createRedfishClient(client.node, { ...client.context, intents }, client.connection);
};

const go = async (client: Client, ledger: Ledger, key: string, is: 'off' | 'on'): Promise<void> => {
  if (ledger.restart(key)?.is !== is) await ledger.putRestart(key, { is });
  await setPower(ledgerIntents(client, ledger, key, is), powerActs[restartActs[is]]);
};

/** The recorded power state may be older. */
export const seenPower = async (client: Client): Promise<Pick<RunObserved, 'power_state'>> => ({
  power_state: powerStateOf((await (await findSystem(client)).look()).value),
});

export const wasRestarted = (ledger: Ledger, key: string): boolean => ledger.restart(key)?.is === 'done';

/** Continues an earlier attempt. A host that is off is only powered on. */
export const restartHost = async (client: Client, ledger: Ledger, key: string): Promise<void> => {
  const begun = ledger.restart(key)?.is;
  if (begun === 'done') return;
  const isOff = async () => (await (await findSystem(client)).look()).value.PowerState === 'Off';
  if (begun === 'off' || (begun === undefined && !(await isOff()))) await go(client, ledger, key, 'off');
  await go(client, ledger, key, 'on');
  await ledger.putRestart(key, { is: 'done' });
};
