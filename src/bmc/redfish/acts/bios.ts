/** BIOS settings: changes or a reset for the next boot, and the wait for them. */

import { isTemperError, raise } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import type { ActOutcome } from '../../../model/runs/runs';
import { converge } from '../../converge';
import { backOff, pause } from '../../wait';
import { checkSettings, defaultsOf, type Registry, readRegistry } from '../discovery/bios-registry';
import { findSystem } from '../discovery/discovery';
import { Bios, BiosSettings, type BiosValue } from '../discovery/resources';
import type { Client, Sent } from '../transport/client';
import { readSettings } from './bios-read';

type BiosValues = Readonly<Record<string, BiosValue>>;
type BiosState = { readonly bios: Bios; readonly pending: BiosValues; readonly settingsPath: string | undefined };
type BiosAt = { readonly path: string; readonly first: BiosState; look(): Promise<BiosState> };

const findBios = async (client: Client): Promise<BiosAt> => {
  const { value: system } = await (await findSystem(client)).look();
  const path = system.Bios?.['@odata.id'];
  if (path === undefined || !(await client.find(path, Bios)))
    return raise('BmcUnsupported', client.facts({ what: 'BIOS settings' }));
  const look = async (): Promise<BiosState> => {
    const { value: bios } = await client.get(path, Bios);
    const settingsPath = bios['@Redfish.Settings']?.SettingsObject?.['@odata.id'];
    const pending = (await client.find(settingsPath, BiosSettings))?.value.Attributes ?? {};
    return { bios, pending, settingsPath };
  };
  return { path, look, first: await look() };
};

/** Value after the next boot: the pending one, else the current one. */
const effective = ({ bios, pending }: BiosState, name: string): BiosValue | undefined =>
  ownValue(pending, name) ?? ownValue(bios.Attributes, name);

const differing = (wanted: BiosValues, has: (name: string) => BiosValue | undefined): string[] =>
  Object.keys(wanted).filter((name) => has(name) !== wanted[name]);

const shortly = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;

const applyTime = {
  '@Redfish.SettingsApplyTime': { '@odata.type': '#Settings.v1_0_0.PreferredApplyTime', ApplyTime: 'OnReset' },
} as const;

const wantedSettings = (args: Readonly<Record<string, unknown>>) =>
  args.settings as { name: string; value: string | number | boolean }[];

const wantedOf = async (
  client: Client,
  args: Readonly<Record<string, unknown>>,
  { first }: BiosAt,
): Promise<BiosValues> =>
  checkSettings(wantedSettings(args), { bios: first.bios, registry: await readRegistry(client, first.bios) });

/** Callers read the last seen settings, so they are read again. */
const seenNow = async (client: Client): Promise<Pick<ActOutcome, 'seen'>> => ({
  seen: { bios: await readSettings(client) },
});

/** `rest: 'skip'` if all values are in force and nothing pending changes them, so no restart is needed. */
export const stageBios = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const at = await findBios(client);
  const wanted = await wantedOf(client, args, at);
  const notStaged = (state: BiosState) => differing(wanted, (name) => effective(state, name));
  const what = 'stage BIOS settings';
  const { state } = await converge<BiosState>(client, {
    what,
    desired: { bios: Object.keys(wanted).sort(), path: at.path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: at.look,
    reached: (now) => notStaged(now).length === 0,
    act: (now): Promise<Sent> => {
      const Attributes = Object.fromEntries(notStaged(now).map((name) => [name, wanted[name]]));
      const onReset = now.bios['@Redfish.Settings']?.SupportedApplyTimes?.includes('OnReset');
      return client.patch(now.settingsPath ?? at.path, { Attributes, ...(onReset ? applyTime : {}) }, what);
    },
    show: (now) => {
      const left = notStaged(now);
      return left.length === 0 ? 'all staged' : `not staged: ${shortly(left)}`;
    },
    again: 'now',
  });
  const changes = differing(wanted, (name) => ownValue(state.bios.Attributes, name));
  if (changes.length === 0)
    return { is: 'done', rest: 'skip', note: 'the BIOS has these settings already', ...(await seenNow(client)) };
  return { is: 'done', note: `staged ${shortly(changes)}` };
};

/** Waits as long as the longest power timeout, since a boot takes minutes. */
const awaitAttributes = async (client: Client, at: BiosAt, wanted: BiosValues, what: string): Promise<void> => {
  const { timing, signal, beat } = client.context;
  const deadline = performance.now() + Math.max(timing.softPowerTimeoutMs, timing.powerTimeoutMs);
  const nextPause = backOff(timing.pollMs);
  let state = at.first;
  for (;;) {
    const left = differing(wanted, (name) => ownValue(state.bios.Attributes, name));
    if (left.length === 0) return;
    const seen = `not yet: ${shortly(left)}`;
    beat({ what, doing: 'waiting', seen });
    if (performance.now() >= deadline) raise('BmcTimeout', client.facts({ what, seen }));
    await pause(nextPause(), signal);
    state = await at.look();
  }
};

export const confirmBios = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const at = await findBios(client);
  const wanted = await wantedOf(client, args, at);
  await awaitAttributes(client, at, wanted, 'apply BIOS settings');
  return { is: 'done', note: `${Object.keys(wanted).length} settings in force`, ...(await seenNow(client)) };
};

const isAtDefaults = (values: BiosValues, registry: Registry, has: (name: string) => BiosValue | undefined): boolean =>
  registry.size > 0 && Object.keys(values).length > 0 && differing(values, has).length === 0;

/**
 * Skips the rest if everything is and stays at its default. After a crash around the command, pending defaults prove that it was
 * accepted. Without them nothing is sent again: the restart that follows shows the effect. The outcome is unknown only if the BMC
 * publishes no defaults.
 */
export const stageBiosReset = async (client: Client): Promise<ActOutcome> => {
  const at = await findBios(client);
  const registry = await readRegistry(client, at.first.bios);
  const defaults = defaultsOf(registry);
  const staged = (state: BiosState) => isAtDefaults(defaults, registry, (name) => effective(state, name));
  const what = 'reset the BIOS settings';
  const converged = await converge<BiosState>(client, {
    what,
    desired: { bios: 'defaults', path: at.path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: at.look,
    reached: staged,
    act: async (now) => {
      const target = now.bios.Actions?.['#Bios.ResetBios']?.target;
      if (target === undefined) return raise('BmcUnsupported', client.facts({ what }));
      const sent = await client.post(target, undefined, what);
      const wantsBody = sent.is === 'refused' && !sent.transient && [400, 415].includes(sent.reply.status);
      return wantsBody ? client.post(target, {}, what) : sent;
    },
    show: (now) => (staged(now) ? 'defaults staged' : 'no defaults staged'),
    again: 'never',
    trusts: true,
  }).catch((thrown: unknown) => {
    if (isTemperError(thrown, 'StepOutcomeUnknown') && Object.keys(defaults).length > 0) return undefined;
    throw thrown;
  });
  if (!converged) return { is: 'done', note: 'whether the reset was taken shows after the restart' };
  const { state } = converged;
  const already = isAtDefaults(defaults, registry, (name) => ownValue(state.bios.Attributes, name));
  if (already)
    return { is: 'done', rest: 'skip', note: 'the BIOS is at its defaults already', ...(await seenNow(client)) };
  return { is: 'done', note: 'a reset of the BIOS settings is staged' };
};

export const confirmBiosReset = async (client: Client): Promise<ActOutcome> => {
  const at = await findBios(client);
  const defaults = defaultsOf(await readRegistry(client, at.first.bios));
  if (Object.keys(defaults).length === 0)
    return {
      is: 'done',
      note: 'the BMC publishes no defaults to compare with; nothing was checked',
      ...(await seenNow(client)),
    };
  await awaitAttributes(client, at, defaults, 'apply the BIOS defaults');
  return { is: 'done', note: 'the BIOS is at its defaults', ...(await seenNow(client)) };
};
