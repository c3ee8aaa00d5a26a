/** Non-maskable interrupt, sent at most once. */
import { raise } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { sendOnce } from '../../once';
import { allowableValues, findSystem } from '../discovery/discovery';
import type { Client } from '../transport/client';

const what = 'inject a non-maskable interrupt';

/** Throws StepRejected while the node is off, StepOutcomeUnknown without an answer. */
export const injectNmi = async (client: Client): Promise<ActOutcome> => {
  const at = await findSystem(client);
  const prepare = async () => {
    const { value: system } = await at.look();
    const action = system.Actions?.['#ComputerSystem.Reset'];
    const allowed = await allowableValues(client, action, 'ResetType');
    if (!action || allowed?.includes('Nmi') === false) return raise('BmcUnsupported', client.facts({ what }));
    if (system.PowerState === 'Off')
      return raise('StepRejected', client.facts({ step: what, reason: 'the node is off' }));
    return { before: system.PowerState, command: () => client.post(action.target, { ResetType: 'Nmi' }, what) };
  };
  await sendOnce(client, { what, desired: { nmi: at.path }, prepare });
  return { is: 'done', note: what };
};
