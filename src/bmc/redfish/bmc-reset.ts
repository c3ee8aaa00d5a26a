/**
 * Restarting the BMC itself, the one act that may harm when done twice: it is sent at most once. A later attempt only
 * looks for traces of the restart, goes on waiting when it finds one, and says so when there is none either way.
 */
import { isTemperError, raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs';
import { type Announced, announcements } from '../announce';
import { backOff, pause } from '../wait';
import type { Client } from './client';
import { allowableValues, findManager, findSystem } from './discovery';
import { Anything, Manager, System } from './resources';

/** What was true before, to recognise a restart by. */
type Before = { readonly last_reset_time: string | null; readonly session: string | null };

const kinds = ['GracefulRestart', 'ForceRestart'] as const;
const goodReads = 3;
const what = 'reset the BMC';

type Found = { readonly at: At; readonly manager: Manager };
type At = { readonly system: string; readonly manager: string };

const find = async (client: Client): Promise<Found> => {
  const system = await findSystem(client);
  const manager = await findManager(client, (await system.look()).value);
  return { at: { system: system.path, manager: manager.path }, manager: manager.value };
};

/** What one look shows. `silent` is how a restart looks from outside; `unready` (odd answers, refused logins) proves nothing. */
type Look = { readonly manager: Manager; readonly ready: boolean; readonly restarted: boolean } | 'silent' | 'unready';

const lasting: readonly string[] = ['BmcAddressRefused', 'BmcTlsFailed', 'DriverInfoInvalid'];
const silent: readonly string[] = ['BmcUnreachable', 'BmcBusy'];

const lookOnce = async (client: Client, at: At, before: Before): Promise<Look> => {
  try {
    const { value: manager } = await client.get(at.manager, Manager);
    const { value: system } = await client.get(at.system, System);
    return { manager, ready: system.PowerState !== undefined, restarted: await hasRestarted(client, before, manager) };
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (!isTemperError(error) || lasting.includes(error.code)) throw error;
    return silent.includes(error.code) ? 'silent' : 'unready';
  }
};

/** A BMC that restarted has forgotten our session. Only asked where it does not tell the time of its last restart. */
const sessionIsGone = async (client: Client, session: string | null): Promise<boolean> =>
  session !== null && client.connection.session() !== session && !(await client.find(session, Anything));

/** Whether what the BMC shows now proves a restart. */
const hasRestarted = async (client: Client, before: Before, manager: Manager): Promise<boolean> =>
  manager.LastResetTime !== undefined
    ? manager.LastResetTime !== before.last_reset_time
    : sessionIsGone(client, before.session);

const send = async (client: Client, { at, manager }: Found): Promise<Announced> => {
  const intents = announcements(client.context, { bmc: at.manager, system: at.system });
  const action = manager.Actions?.['#Manager.Reset'];
  const allowed = await allowableValues(client, action, 'ResetType');
  const kind = allowed ? kinds.find((one) => allowed.includes(one)) : kinds[0];
  if (action === undefined || kind === undefined) return raise('BmcUnsupported', client.facts({ what }));
  const before: Before = {
    last_reset_time: manager.LastResetTime ?? null,
    session: client.connection.session() ?? null,
  };
  client.context.signal.throwIfAborted();
  const announced = await intents.announce(before);
  const sent = await client.post(action.target, { ResetType: kind }, what).catch(async (error: unknown) => {
    if (!client.context.signal.aborted) await intents.withdraw();
    throw error;
  });
  if (sent.is === 'refused') {
    await intents.withdraw();
    throw sent.error;
  }
  return sent.is === 'accepted' ? intents.confirm(announced) : announced;
};

/** Waits until three looks in a row are good, after something proved that the restart began. */
const watch = async (client: Client, at: At, announced: Announced): Promise<void> => {
  const { timing, signal, beat } = client.context;
  const deadline = Date.now() + Math.max(timing.softPowerTimeoutMs, timing.powerTimeoutMs);
  const before = announced.before as Before;
  const nextPause = backOff(timing.pollMs);
  let begun = false;
  let good = 0;
  for (;;) {
    const look = await lookOnce(client, at, before);
    // The BMC's own word, where it gives one, outweighs its silence.
    const silence = look === 'silent' && (announced.accepted || before.last_reset_time === null);
    begun ||= typeof look === 'object' ? look.restarted : silence;
    good = typeof look === 'object' && look.ready ? good + 1 : 0;
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
    await pause(typeof look === 'object' ? timing.pollMs : nextPause(), signal);
  }
};

/** The paths travel with the intent: a later attempt may begin while the BMC is away. */
export const resetBmc = async (client: Client): Promise<ActOutcome> => {
  const last = await client.context.intents.last();
  const known = last && last.detail.withdrawn !== true ? last : undefined;
  if (known) {
    const { bmc, system } = known.detail.desired as { bmc: string; system: string };
    const announced = await announcements(client.context, { bmc, system }).last();
    await watch(client, { manager: bmc, system }, announced!);
  } else {
    const found = await find(client);
    await watch(client, found.at, await send(client, found));
  }
  return { is: 'done', note: 'the BMC is back' };
};
