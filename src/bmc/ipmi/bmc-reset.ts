/**
 * Restarting the BMC itself, which may harm when done twice: it is sent at most once. IPMI tells no time of the last
 * restart, so that only silence, or the BMC's own yes, shows that it happened; without either nobody can know.
 */
import { isTemperError, raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs';
import { type Announced, announcements } from '../announce';
import { backOff, pause } from '../wait';
import type { Client } from './client';
import { lookAtPower } from './power';

const what = 'reset the BMC';
const goodReads = 3;

// Not `mc reset cold`, which says "sent" whether or not an answer came.
const coldReset = ['raw', '0x06', '0x02'];

/** `silent` is how a restart looks from outside; `unready` (odd answers, refused logins) proves nothing. */
type Look = 'good' | 'silent' | 'unready';

const lasting: readonly string[] = ['BmcAddressRefused', 'DriverInfoInvalid', 'ProgramMissing'];

const lookOnce = async (client: Client): Promise<Look> => {
  try {
    await lookAtPower(client);
    return 'good';
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (!isTemperError(error) || lasting.includes(error.code)) throw error;
    return error.code === 'BmcUnreachable' ? 'silent' : 'unready';
  }
};

const send = async (client: Client, intents: ReturnType<typeof announcements>): Promise<Announced> => {
  await lookAtPower(client); // A BMC that is away already would look as if we had restarted it.
  client.context.signal.throwIfAborted();
  const announced = await intents.announce(null);
  const sent = await client.write(coldReset, what).catch(async (error: unknown) => {
    if (!client.context.signal.aborted) await intents.withdraw();
    throw error;
  });
  if (sent.is === 'refused') {
    await intents.withdraw();
    throw sent.error;
  }
  return sent.is === 'accepted' ? intents.confirm(announced) : announced;
};

/** Waits until three looks in a row are good, after something showed that the restart began. */
const watch = async (client: Client, announced: Announced): Promise<void> => {
  const { timing, signal, beat } = client.context;
  const deadline = Date.now() + Math.max(timing.softPowerTimeoutMs, timing.powerTimeoutMs);
  const nextPause = backOff(timing.pollMs);
  let begun = false;
  let good = 0;
  for (;;) {
    const look = await lookOnce(client);
    begun ||= look === 'silent';
    good = look === 'good' ? good + 1 : 0;
    const settled = Date.now() - announced.sentAt >= timing.settleMs;
    if (good >= goodReads && (begun || (announced.accepted && settled))) return;
    if (good >= goodReads && settled)
      raise(
        'StepOutcomeUnknown',
        client.facts({ step: what, reason: 'the BMC answers and shows no trace of a restart' }),
      );
    const doing = begun ? 'waiting for the BMC to come back' : 'waiting for the BMC to restart';
    beat({ what, doing, good_reads: good });
    if (Date.now() >= deadline) raise('BmcTimeout', client.facts({ what, seen: `${good} good reads in a row` }));
    await pause(look === 'good' ? timing.pollMs : nextPause(), signal);
  }
};

export const resetBmc = async (client: Client): Promise<ActOutcome> => {
  const intents = announcements(client.context, { reset: 'bmc' });
  await watch(client, (await intents.last()) ?? (await send(client, intents)));
  return { is: 'done', note: 'the BMC is back' };
};
