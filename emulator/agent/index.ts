/** Emulated ramdisks: as many as machines boot, in one process, with a journal of their commands and faults on demand. */
import { type Certificate, makeCertificate } from './certificate';
import { type AgentFault, createFaults } from './faults';
import type { Gate } from './gate';
import { type Life, type LifeState, startLife } from './life';
import { agentListener, openDoor } from './server';
import { createTemper, type Temper } from './temper';
import type { AgentEntry, AgentTiming, Machine } from './types';

export { AgentFault, agentFaultKinds } from './faults';

export type { AgentTiming, Machine } from './types';

export type AgentsOptions = {
  /** Of Temper's API, without /v1. */
  readonly apiUrl: string;
  /** Default true, with a certificate made at the start. */
  readonly tls?: boolean;
  /** 127.0.0.1 when not given. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Whether each offers its inventory before it looks itself up; the API takes it where it waits for one. Default true. */
  readonly inspects?: boolean;
  readonly timing?: Partial<AgentTiming>;
  /** What may hold its first call and the requests to it, by the machine's first MAC address. */
  readonly gateOf?: (mac: string) => Gate | undefined;
  /** Told when a command shuts a machine down or restarts it; its ramdisk is gone by then. */
  readonly onPower?: (machine: Machine, what: 'off' | 'restart') => void;
};

export type Agents = {
  readonly url: string;
  /** Ends the ramdisk that ran on this machine, if any, and boots one. */
  boot(machine: Machine): void;
  /** By any MAC address of the machine. */
  powerLost(mac: string): void;
  list(): {
    readonly mac: string;
    readonly state: LifeState;
    readonly node_uuid: string | null;
    readonly token: string | null;
  }[];
  /** Every command that was taken, oldest first. */
  journal(filter?: {
    readonly mac?: string;
    readonly node_uuid?: string;
    readonly destructive?: boolean;
  }): AgentEntry[];
  /** By the machine's first MAC address, or its node's uuid where it has none. */
  fault(mac: string, fault: AgentFault): void;
  clearFaults(mac?: string): void;
  /** Shows another certificate from now on, without telling anybody. */
  renewCertificate(certificate?: Certificate): Promise<void>;
  close(): Promise<void>;
};

const defaults: AgentTiming = {
  bootMs: 1_000,
  lookupRetryMs: 1_000,
  beatRetryMs: 5_000,
  stepMs: 500,
  imageMs: 1_500,
  bootloaderMs: 300,
  powerOffMs: 200,
};

/** How long things take where machines work so many times as fast as usual. */
export const agentTimingAt = (speed: number): AgentTiming =>
  Object.fromEntries(Object.entries(defaults).map(([name, ms]) => [name, ms / speed])) as AgentTiming;

/** Stays the same over reboots, as an address does. */
const idOf = ({ macs, nodeUuid }: Machine): string =>
  (macs[0] ?? nodeUuid ?? 'unknown').toLowerCase().replaceAll(':', '');

/** Fails with the system's error when the port is taken. */
export const createAgents = async (options: AgentsOptions): Promise<Agents> => {
  const host = options.host ?? '127.0.0.1';
  const timing = { ...defaults, ...options.timing };
  const faults = createFaults();
  const temper = createTemper(options.apiUrl);
  const others = new Map<string, Temper>();
  /** The API that a machine's kernel arguments name, or else the rack's own. */
  const temperOf = ({ boot }: Machine): Temper => {
    if (!boot) return temper;
    const known = others.get(boot.apiUrl) ?? createTemper(boot.apiUrl);
    others.set(boot.apiUrl, known);
    return known;
  };
  const lives = new Map<string, Life>();
  const entries: AgentEntry[] = [];
  let announced = options.tls === false ? null : await makeCertificate(host);
  const reset = async (machine: Machine): Promise<void> => {
    const next = announced && (await makeCertificate(host));
    if (next) door.renew(next);
    announced = next;
    boot(machine);
    door.cut();
  };
  const listener = agentListener((id) => lives.get(id), { faults, reset }, options.gateOf);
  const door = await openDoor(listener, { host, port: options.port ?? 0, certificate: announced });
  let closed = false;

  const journal = (entry: Omit<AgentEntry, 'seq' | 'time'>): AgentEntry => {
    const full = { seq: entries.length + 1, time: new Date().toISOString(), ...entry };
    entries.push(full);
    return full;
  };

  const boot = (machine: Machine): void => {
    if (closed) return;
    const id = idOf(machine);
    lives.get(id)?.end();
    const shown = announced;
    const life = startLife(machine, {
      temper: temperOf(machine),
      timing,
      faults,
      callbackUrl: `${door.url}/agent/${id}`,
      certificate: () => shown?.cert ?? null,
      inspects: options.inspects ?? true,
      journal,
      gate: options.gateOf?.(machine.macs[0] ?? ''),
      power: (which, what) => options.onPower?.(which, what),
    });
    lives.set(id, life);
    if (machine.endless) void life.over.then(() => lives.get(id) === life && boot(machine));
  };

  const fits = (entry: AgentEntry, filter: NonNullable<Parameters<Agents['journal']>[0]>): boolean =>
    Object.entries(filter).every(([key, value]) => value === undefined || entry[key as keyof AgentEntry] === value);

  return {
    url: door.url,
    boot,
    powerLost(mac) {
      const wanted = mac.toLowerCase();
      for (const [id, life] of lives)
        if (life.machine.macs.some((one) => one.toLowerCase() === wanted) || life.machine.nodeUuid === mac) {
          lives.delete(id);
          life.end();
        }
    },
    list: () =>
      [...lives.values()].map((life) => ({
        mac: life.machine.macs[0] ?? '',
        state: life.state(),
        node_uuid: life.nodeUuid,
        token: life.token,
      })),
    journal: (filter = {}) => entries.filter((entry) => fits(entry, filter)),
    fault: faults.add,
    clearFaults: faults.clear,
    async renewCertificate(certificate) {
      door.renew(certificate ?? (await makeCertificate(host)));
    },
    async close() {
      closed = true;
      for (const life of lives.values()) life.end();
      await Promise.all([...lives.values()].map((life) => life.over));
      await door.close();
      await Promise.all([temper, ...others.values()].map((one) => one.close()));
    },
  };
};
