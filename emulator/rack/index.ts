/** An emulated rack: many Redfish BMCs of several vendors in one process, with a memory, a journal and faults on demand. */

import { join } from 'node:path';
import type { z } from 'zod';
import { raise } from '../../src/model/errors';
import { type Agents, agentTimingAt } from '../agent';
import type { Gate } from '../agent/gate';
import { advance } from './advance';
import { createBmc, renew, systemPath } from './bmc';
import { certificateIn, makeCertificate } from './certificate';
import { controlListener, type JournalFilter, type RackDeps } from './control';
import { Fault } from './fault-kinds';
import { addFault } from './faults';
import { openForgetfulStore, openStore } from './journal';
import { type Latency, logNormal } from './latency';
import { pressPowerButton } from './power';
import { profileNames, profiles } from './profiles';
import { type RamdiskOptions, type Ramdisks, startRamdisks } from './ramdisks';
import { listen } from './server';
import { type Addressed, openSockets } from './sockets';
import type { Traffic } from './traffic';
import type { ActiveFault, Bmc, BmcState, JournalEntry, Recorder, Timing } from './types';

export type { Fault } from './fault-kinds';
export type { Traffic } from './traffic';
export type { Timing } from './types';
export { profileNames };

export type RackOptions = {
  /** A folder of this rack's own: journal, snapshot and certificate live there. */
  stateDir: string;
  /** 8 when not given; at most 8,388,608, for the numbers of their MAC addresses end there. */
  bmcs?: number;
  /** Keeps no journal and no snapshot, so that 100,000 BMCs fit into one process; their state ends with it. */
  forgetful?: boolean;
  /** 127.0.0.1 when not given. */
  host?: string;
  /** 0, the default of all ports, takes a free one. With ports 'each', BMC n listens at httpPort + n. */
  httpPort?: number;
  httpsPort?: number;
  controlPort?: number;
  /** 'shared': one port, addresses end in /bmc/N. 'each': two ports for each BMC, no prefix. */
  ports?: 'shared' | 'each';
  timing?: Partial<Timing>;
  /** How many times as fast as usual the hardware works, where `timing` does not say. */
  speed?: number;
  /** Names of profiles, dealt out in turn; all of them when not given. */
  profiles?: readonly string[];
  /** How long each answer takes; no time when not given. */
  latency?: Latency;
  /** Boots emulated ramdisks that call this API; none when not given. */
  ramdisks?: RamdiskOptions;
};

export type RackBmc = {
  readonly index: number;
  readonly name: string;
  readonly profile: string;
  readonly vendor: string;
  /** What goes into driver_info redfish_address: scheme, authority and prefix. */
  readonly address: string;
  readonly secureAddress: string;
  /** What goes into redfish_system_id: the full path, prefix included. */
  readonly systemId: string;
  readonly username: string;
  readonly password: string;
  readonly macs: readonly string[];
  readonly uuid: string;
  readonly serial: string;
};

export type Rack = {
  readonly bmcs: readonly RackBmc[];
  readonly controlUrl: string;
  /** The PEM file of the certificate that the HTTPS addresses use. */
  readonly certificateFile: string;
  /** All writes since the rack first started, oldest first. */
  journal(filter?: JournalFilter): JournalEntry[];
  /** Makes something go wrong; raises InvalidInput when the fault makes no sense. */
  fault(index: number, fault: Fault): { id: number };
  clearFaults(index: number, id?: number): void;
  pressPowerButton(index: number): void;
  /** Holds what is on its way to a machine. */
  gate(index: number): Gate;
  /** Shows a certificate that nobody was told of, at every HTTPS address. */
  rotateCertificate(): Promise<void>;
  /** Brings a BMC back to how it left the factory, but for its sessions. */
  renew(index: number, power: 'On' | 'Off'): void;
  /** The ramdisks on its hosts, where the options ask for them. */
  readonly agents?: Agents;
  /** What the BMC holds true now, whatever faults make it say. */
  state(index: number): BmcState & { requests: Record<string, number> };
  /** How each BMC was treated since this process began, in their order. */
  traffic(): readonly Traffic[];
  close(): Promise<void>;
};

const defaultTiming: Timing = {
  powerOnMs: 3000,
  powerOffMs: 1500,
  gracefulOffMs: 2500,
  postMs: 3000,
  bmcResetMs: 5000,
  volumeTaskMs: 4000,
  firmwareTaskMs: 6000,
  sessionTimeoutMs: 30 * 60_000,
};

const timingAt = (speed: number): Timing => ({
  ...(Object.fromEntries(Object.entries(defaultTiming).map(([name, ms]) => [name, ms / speed])) as Timing),
  sessionTimeoutMs: defaultTiming.sessionTimeoutMs,
});

/** A snapshot after so many writes keeps the next start quick. */
const snapshotEvery = 2000;

const profileOf = (name: string) =>
  profiles[name] ??
  raise('InvalidInput', { field: 'profiles', reason: `${name} is unknown; known are ${profileNames.join(', ')}` });

const parseFault = (fault: Fault): z.output<typeof Fault> => {
  const parsed = Fault.safeParse(fault);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return raise('InvalidInput', {
      field: `fault ${issue?.path.join('.') ?? ''}`.trim(),
      reason: issue?.message ?? 'is not valid',
    });
  }
  try {
    if (parsed.data.path !== undefined) new RegExp(parsed.data.path);
  } catch {
    return raise('InvalidInput', { field: 'fault path', reason: 'is not a regular expression' });
  }
  return parsed.data;
};

const listed = (bmc: Bmc, { address, secureAddress, prefix }: Addressed): RackBmc => ({
  index: bmc.index,
  name: bmc.name,
  profile: bmc.profile.name,
  vendor: bmc.profile.vendor,
  address,
  secureAddress,
  systemId: `${prefix}${systemPath(bmc)}`,
  username: bmc.username,
  password: bmc.password,
  macs: bmc.macs,
  uuid: bmc.uuid,
  serial: bmc.serial,
});

const fits = (entry: JournalEntry, filter: JournalFilter): boolean =>
  entry.seq > (filter.since ?? 0) &&
  (filter.bmc === undefined || entry.bmc === filter.bmc) &&
  (filter.accepted === undefined || entry.accepted === filter.accepted) &&
  (filter.session === undefined || entry.session === filter.session);

/**
 * Starts a rack, or brings back the one that `stateDir` remembers.
 * Raises InvalidInput for an unknown profile; fails with the system's error when a port is taken.
 */
export const startRack = async (options: RackOptions): Promise<Rack> => {
  const names = options.profiles?.length ? options.profiles : profileNames;
  const timing = { ...timingAt(options.speed ?? 1), ...options.timing };
  const chosen = Array.from({ length: options.bmcs ?? 8 }, (_, index) => profileOf(names[index % names.length]!));
  const store = (options.forgetful ? openForgetfulStore : openStore)(options.stateDir);
  const latencyMs = options.latency && logNormal(options.latency);
  const bmcs = chosen.map((profile, index) =>
    createBmc(index, profile, timing, { state: store.recall(index, profile.name), latencyMs }),
  );
  store.snapshot(bmcs);

  let ramdisks: Ramdisks | undefined;
  const record: Recorder = (bmc, entry, now) => {
    const { seq } = store.record(bmc, entry, now);
    if (seq % snapshotEvery === 0) store.snapshot(bmcs);
    ramdisks?.hosts.look(bmc);
  };
  const bmcAt = (index: number): Bmc =>
    bmcs[index] ?? raise('InvalidInput', { field: 'bmc', reason: `${index} is not in this rack of ${bmcs.length}` });

  const deps: RackDeps = {
    list: () => shown,
    journal: (filter) => store.entries.filter((entry) => fits(entry, filter)),
    fault: (index, fault) => addFault(bmcAt(index), parseFault(fault), Date.now()),
    faults: (index) => bmcAt(index).faults,
    clearFaults: (index, id) => {
      const bmc = bmcAt(index);
      bmc.faults = bmc.faults.filter((fault) => id !== undefined && fault.id !== id);
    },
    pressPowerButton: (index) => press(bmcAt(index), record),
    gate: (index) => bmcAt(index).gate,
    gates: () => bmcs.map(({ gate }) => gate.look()),
    renew: (index, power) => {
      const bmc = bmcAt(index);
      renew(bmc, power, Date.now());
      ramdisks?.agents.powerLost(bmc.macs[0]!);
      ramdisks?.hosts.look(bmc);
    },
    rotateCertificate: async () => {
      const next = await makeCertificate(options.host ?? '127.0.0.1');
      for (const socket of sockets.all) socket.renew(next);
    },
    agents: () => ramdisks?.agents,
    macOf: (index) => bmcAt(index).macs[0]!,
    state: (index) => {
      const bmc = bmcAt(index);
      advance(bmc, Date.now());
      return { ...structuredClone(bmc.state), requests: { ...bmc.requests } };
    },
    traffic: () => bmcs.map(({ traffic }) => traffic.look()),
  };

  if (options.ramdisks) {
    const bootMs = timing.postMs;
    const usual = agentTimingAt(options.speed ?? 1);
    const wanted = { ...options.ramdisks, timing: { ...usual, bootMs, ...options.ramdisks.timing } };
    ramdisks = await startRamdisks(bmcs, record, { ...wanted, host: options.host });
  }
  const certificate = await certificateIn(options.stateDir, options.host ?? '127.0.0.1');
  const sockets = await openSockets(bmcs, record, options, certificate);
  const control = await listen(controlListener(deps), {
    host: options.host ?? '127.0.0.1',
    port: options.controlPort ?? 0,
  });
  const shown = bmcs.map((bmc) => listed(bmc, sockets.of(bmc.index)));

  return {
    bmcs: shown,
    controlUrl: control.url,
    certificateFile: join(options.stateDir, 'rack-cert.pem'),
    journal: (filter = {}) => deps.journal(filter),
    fault: (index, fault) => ({ id: (deps.fault(index, fault) as ActiveFault).id }),
    clearFaults: deps.clearFaults,
    pressPowerButton: deps.pressPowerButton,
    gate: deps.gate,
    renew: deps.renew,
    rotateCertificate: deps.rotateCertificate,
    state: deps.state,
    traffic: deps.traffic,
    agents: ramdisks?.agents,
    close: async () => {
      await ramdisks?.close();
      await Promise.all([control, ...sockets.all].map((socket) => socket.close()));
      store.snapshot(bmcs);
      store.close();
    },
  };
};

const press = (bmc: Bmc, record: Recorder): void => {
  const now = Date.now();
  advance(bmc, now);
  pressPowerButton(bmc, now);
  record(
    bmc,
    {
      source: 'control',
      method: 'POST',
      path: 'press-power-button',
      content: null,
      subject: 'power',
      effect: 'once',
      accepted: true,
      status: 204,
      session: false,
      answered: true,
    },
    now,
  );
};
