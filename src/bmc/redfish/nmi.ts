/** A non-maskable interrupt: sent at most once, with nothing to see afterwards but the BMC's own yes. */
import { raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs';
import { announcements } from '../announce';
import type { Client } from './client';
import { allowableValues, findSystem } from './discovery';

const what = 'inject a non-maskable interrupt';

/** Throws StepRejected while the node is off, StepOutcomeUnknown where no answer told whether it arrived. */
export const injectNmi = async (client: Client): Promise<ActOutcome> => {
  const at = await findSystem(client);
  const intents = announcements(client.context, { nmi: at.path });
  const unknown = (reason: string) => raise('StepOutcomeUnknown', client.facts({ step: what, reason }));
  const earlier = await intents.last();
  if (earlier?.accepted) return { is: 'done', note: what };
  if (earlier) return unknown('it left no trace either way');
  const { value: system } = await at.look();
  const action = system.Actions?.['#ComputerSystem.Reset'];
  const allowed = await allowableValues(client, action, 'ResetType');
  if (!action || allowed?.includes('Nmi') === false) return raise('BmcUnsupported', client.facts({ what }));
  if (system.PowerState === 'Off')
    return raise('StepRejected', client.facts({ step: what, reason: 'the node is off' }));
  client.context.signal.throwIfAborted();
  const announced = await intents.announce(system.PowerState);
  const sent = await client.post(action.target, { ResetType: 'Nmi' }, what).catch(async (error: unknown) => {
    if (!client.context.signal.aborted) await intents.withdraw();
    throw error;
  });
  if (sent.is === 'unknown') return unknown(sent.error.message);
  if (sent.is === 'refused') {
    await intents.withdraw();
    throw sent.error;
  }
  await intents.confirm(announced);
  return { is: 'done', note: what };
};
