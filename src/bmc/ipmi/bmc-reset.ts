/**
 * Restart of the BMC, sent at most once because a repeat may do harm. IPMI reports no restart time: only silence or the BMC's
 * acceptance is proof.
 */
import { isTemperError } from '../../model/errors';
import type { ActOutcome } from '../../model/runs/runs';
import { type Announced, type Announcements, announcements } from '../announce';
import { type RestartLook, resetWhat, untilBack } from '../bmc-restart';
import { announceAndSend } from '../once';
import type { Client } from './client';
import { lookAtPower } from './power';

// Not `mc reset cold`, which prints "sent" even without an answer.
const coldReset = ['raw', '0x06', '0x02'];

const lastingCodes: readonly string[] = ['BmcAddressRefused', 'DriverInfoInvalid', 'ProgramMissing'];

/** Silence shows the restart; other errors prove nothing. */
const lookOnce = async (client: Client): Promise<RestartLook> => {
  try {
    await lookAtPower(client);
    return { good: true, begun: false, answers: true };
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (!isTemperError(error) || lastingCodes.includes(error.code)) throw error;
    return { good: false, begun: error.code === 'BmcUnreachable', answers: false };
  }
};

const sendReset = async (client: Client, intents: Announcements): Promise<Announced> => {
  await lookAtPower(client); // Otherwise an unreachable BMC would count as restarted.
  return (await announceAndSend(client, intents, { command: () => client.write(coldReset, resetWhat) })).announced;
};

export const resetBmc = async (client: Client): Promise<ActOutcome> => {
  const intents = announcements(client.context, { reset: 'bmc' });
  await untilBack(client, (await intents.last()) ?? (await sendReset(client, intents)), () => lookOnce(client));
  return { is: 'done', note: 'the BMC is back' };
};
