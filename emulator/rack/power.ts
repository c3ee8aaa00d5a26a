/** The host's power: commands, the states on the way, and what a vendor says to a command it does not want. */

import { done, oneOf, refuse, refuseMissing } from './answers';
import { faultOf } from './faults';
import type { Answer, Bmc, Effect, Exchange, PowerState, Recorder } from './types';

type Move = (bmc: Bmc, now: number) => { shows: PowerState; at: number }[];

const off = (now: number, ms: number): { shows: PowerState; at: number }[] => [
  { shows: 'PoweringOff', at: now },
  { shows: 'Off', at: now + ms },
];
const on = (bmc: Bmc, now: number): { shows: PowerState; at: number }[] => [
  { shows: 'PoweringOn', at: now },
  { shows: 'On', at: now + bmc.timing.powerOnMs },
];
const offThenOn = (bmc: Bmc, now: number, ms: number): { shows: PowerState; at: number }[] => [
  { shows: 'PoweringOff', at: now },
  ...on(bmc, now + ms),
];
const isOn = (bmc: Bmc): boolean => bmc.state.power.shows !== 'Off';

/** What each ResetType does, which state it asks for, and how dangerous a repeat is. */
const resets: Readonly<
  Record<string, { wants: 'On' | 'Off' | null; effect: Effect; needs?: 'On' | 'Off'; graceful?: true; move: Move }>
> = {
  On: { wants: 'On', effect: 'converge', move: on },
  ForceOn: { wants: 'On', effect: 'converge', move: on },
  ForceOff: { wants: 'Off', effect: 'converge', move: (bmc, now) => off(now, bmc.timing.powerOffMs) },
  GracefulShutdown: {
    wants: 'Off',
    effect: 'converge',
    graceful: true,
    move: (bmc, now) => off(now, bmc.timing.gracefulOffMs),
  },
  ForceRestart: {
    wants: null,
    effect: 'once',
    needs: 'On',
    move: (bmc, now) => offThenOn(bmc, now, bmc.timing.powerOffMs),
  },
  GracefulRestart: {
    wants: null,
    effect: 'once',
    needs: 'On',
    graceful: true,
    move: (bmc, now) => offThenOn(bmc, now, bmc.timing.gracefulOffMs),
  },
  PowerCycle: {
    wants: null,
    effect: 'once',
    needs: 'On',
    move: (bmc, now) => offThenOn(bmc, now, bmc.timing.powerOffMs),
  },
  Nmi: { wants: null, effect: 'once', needs: 'On', move: () => [] },
  PushPowerButton: {
    wants: null,
    effect: 'once',
    move: (bmc, now) => (isOn(bmc) ? off(now, bmc.timing.gracefulOffMs) : on(bmc, now)),
  },
};

const refusals = {
  conflict: { status: 409, already: 'ActionParameterValueConflict', moving: 'ActionParameterValueConflict' },
  'bad-request': {
    status: 400,
    already: 'iLO.2.14.InvalidOperationForSystemState',
    moving: 'iLO.2.14.InvalidOperationForSystemState',
  },
} as const;

/** `when` says which of the two the vendor is asked about. */
const refuseAs = (how: keyof typeof refusals, when: 'already' | 'moving', bmc: Bmc): never =>
  refuse(
    refusals[how].status,
    refusals[how][when],
    when === 'already'
      ? `The host is already powered ${bmc.state.power.shows === 'Off' ? 'off' : 'on'}.`
      : 'The operation was not successful due to the current power state of the host.',
  );

/** Starts the transition that a ResetType asks for; refuses what this vendor refuses. */
const reset = (bmc: Bmc, type: unknown, now: number): void => {
  const name = oneOf('ResetType', type, bmc.profile.resetTypes);
  const row = resets[name]!;
  const { power } = bmc.state;
  const { whenAlready, whenMoving } = bmc.profile;
  const moving = power.coming.length > 0;
  // Switching off hard has to work at any time, or a stuck host could not be recovered.
  if (moving && row.wants !== 'Off' && whenMoving !== 'superseded') refuseAs(whenMoving, 'moving', bmc);
  if (!moving && row.wants !== null && power.shows === row.wants) {
    if (whenAlready !== 'accepted') refuseAs(whenAlready, 'already', bmc);
    return;
  }
  if (row.needs === 'On' && power.shows === 'Off') {
    if (whenAlready !== 'accepted') refuseAs(whenAlready, 'already', bmc);
    if (name === 'Nmi') return;
    power.coming = on(bmc, now);
    return;
  }
  if (row.graceful && faultOf(bmc, 'ignore-graceful', now)) return;
  const next = row.move(bmc, now);
  const [running, wanted] = [power.coming.at(-1), next.at(-1)];
  // A repeat does not postpone what is coming sooner anyway.
  if (running && wanted && running.shows === row.wants && running.at <= wanted.at) return;
  if (next.length > 0) power.coming = next;
  const stuck = faultOf(bmc, 'power-stuck', now);
  if (stuck) power.coming = heldBack(power.coming, stuck.until);
};

/** Stays on its way until then; for ever when nothing but a count ends it. */
const heldBack = (coming: Bmc['state']['power']['coming'], until: number | null): Bmc['state']['power']['coming'] => {
  const [first, ...rest] = coming;
  if (!first || until === null) return coming.slice(0, 1);
  return [first, ...rest.map((one) => ({ ...one, at: Math.max(one.at, until) }))];
};

/** The power button on the front: on when off, a polite shutdown when on. */
export const pressPowerButton = (bmc: Bmc, now: number): void => {
  bmc.state.power.coming = resets.PushPowerButton!.move(bmc, now);
};

export type HostPower = 'off' | 'restart';

/** What the system on the host does to its own power. Nothing happens to a host that is off, or changing already. */
export const powerFromHost = (bmc: Bmc, what: HostPower, record: Recorder): void => {
  const now = Date.now();
  const { power } = bmc.state;
  if (power.shows !== 'On' || power.coming.length > 0) return;
  const ms = bmc.timing.powerOffMs;
  power.coming = what === 'off' ? off(now, ms) : offThenOn(bmc, now, ms);
  const entry = {
    source: 'control',
    method: 'POST',
    path: `host-${what}`,
    subject: 'power',
    effect: 'converge',
  } as const;
  record(bmc, { ...entry, content: null, accepted: true, status: 204, session: false, answered: true }, now);
};

/** What the BMC claims: the truth, unless a fault makes it lag behind. */
export const reportedPower = (bmc: Bmc, now: number): PowerState =>
  (faultOf(bmc, 'wrong-power-state', now)?.value as PowerState | undefined) ?? bmc.state.power.shows;

/** Whether the host is in its power-on self-test. */
export const inPost = (bmc: Bmc, now: number): boolean => {
  const { power } = bmc.state;
  return power.shows === 'On' && power.onSince !== null && now < power.onSince + bmc.timing.postMs;
};

/** Refuses a write while the host is in POST, on vendors that lock their settings then. */
export const refuseDuringPost = (bmc: Bmc, now: number): void => {
  if ((bmc.profile.postLock && inPost(bmc, now)) || faultOf(bmc, 'post-lock', now))
    refuse(
      400,
      'iLO.2.14.UnableToModifyDuringSystemPOST',
      'Unable to modify the property while the system is in POST.',
    );
};

export const resetEffect = (x: Exchange): Effect => resets[String(x.body.ResetType)]?.effect ?? 'once';

export const resetSystem = (x: Exchange): Answer => {
  if (x.body.ResetType === undefined) refuseMissing('ComputerSystem.Reset', 'ResetType');
  reset(x.bmc, x.body.ResetType, x.now);
  return done;
};
