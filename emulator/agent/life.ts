/** One life of an emulated ramdisk, from boot to the moment its machine goes down: inspection, lookup, heartbeats, commands. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createExecutor, type Executor } from './executor';
import type { Faults } from './faults';
import type { Gate } from './gate';
import { inventoryOf } from './inventory';
import type { Answer, Temper } from './temper';
import type { AgentEntry, AgentTiming, Machine } from './types';

/** `locked`: the API knows another token, so that this ramdisk serves nobody; `rescued`: its work is done; `silent`: its host hangs. */
export type LifeState = 'booting' | 'looking' | 'serving' | 'locked' | 'rescued' | 'silent' | 'down';

export type LifeDeps = {
  readonly temper: Temper;
  readonly timing: AgentTiming;
  readonly faults: Faults;
  readonly callbackUrl: string;
  /** PEM; null without TLS. */
  readonly certificate: () => string | null;
  /** Whether it offers what an inspection wants before it looks itself up. */
  readonly inspects: boolean;
  /** What may hold its first call. */
  readonly gate?: Gate;
  journal(entry: Omit<AgentEntry, 'seq' | 'time'>): AgentEntry;
  /** What a command does to the machine. */
  power(machine: Machine, what: 'off' | 'restart'): void;
};

export type Life = {
  readonly machine: Machine;
  state(): LifeState;
  readonly nodeUuid: string | null;
  /** What it was told at its lookup. */
  readonly token: string | null;
  readonly startedAt: number;
  readonly executor: Executor;
  restart(): void;
  /** Nothing is heard of it any more, as of a host that hangs; it keeps its power. */
  fallSilent(): void;
  /** The machine has lost power: nothing of it goes on. */
  end(): void;
  /** Resolves when the life is over. */
  readonly over: Promise<void>;
};

type Doc = Readonly<Record<string, unknown>>;
const doc = (value: unknown): Doc => (typeof value === 'object' && value !== null ? (value as Doc) : {});

export const agentVersion = '13.0.0';
const longestLookupMs = 60_000;

// Pauses between offers of an inventory, as openstack/ironic-python-agent:ironic_python_agent/inspector.py has them; real
// ones at any speed, because the API that it waits for is a real one.
const offerPausesMs = [5_000, 5_000, 6_000, 12_000];

export const startLife = (machine: Machine, deps: LifeDeps): Life => {
  const { temper, timing, faults } = deps;
  const mac = machine.macs[0] ?? machine.nodeUuid ?? 'unknown';
  const power = new AbortController();
  let state: LifeState = 'booting';
  let startedAt = Date.now() / 1_000;
  let nodeUuid: string | null = null;
  let token: string | null = machine.boot?.token ?? null;
  let heartbeatMs = 300_000;
  let woken = false;
  let resume = (): void => undefined;
  const wake = (): void => {
    woken = true;
    resume();
  };

  const executor = createExecutor({
    mac,
    timing,
    faults,
    signal: power.signal,
    journal: (entry) => deps.journal({ ...entry, mac, node_uuid: nodeUuid }),
    finished: () => wake(),
    becomes(what) {
      if (what === 'rescued' || what === 'locked') {
        state = what;
        // Its answer leaves first; nothing follows it.
        return wake();
      }
      end();
      deps.power(machine, what);
    },
  });

  const end = (): void => {
    state = 'down';
    power.abort();
    wake();
  };

  /** Ends early, or does not begin, when a command has finished or the machine goes down. */
  const pauseUnlessWoken = async (ms: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    if (!woken)
      await new Promise<void>((resolve) => {
        resume = resolve;
        timer = setTimeout(resolve, ms);
      });
    clearTimeout(timer);
    woken = false;
  };

  const jitter = (ms: number, least: number, most: number): number => ms * (least + Math.random() * (most - least));
  const calmly = (ask: Promise<Answer>): Promise<Answer> => ask.catch(() => ({ status: 0, body: undefined }));

  /** The node's uuid, where the API waited for what was found on it. Offered again where nobody answers, or a 5xx does. */
  const offerInventory = async (): Promise<string | undefined> => {
    const offer = () => calmly(temper.continueInspection(inventoryOf(machine), machine.boot?.inspectionUrl));
    let { status, body } = await offer();
    for (const ms of offerPausesMs) {
      if (status !== 0 && status < 500) break;
      await sleep(ms, undefined, { signal: power.signal });
      ({ status, body } = await offer());
    }
    const { uuid } = doc(body);
    return status === 202 && typeof uuid === 'string' ? uuid : undefined;
  };

  /** True once the API knows the node and lets it be looked up; false when another ramdisk holds its token. */
  const lookUp = async (inspected: string | undefined): Promise<boolean> => {
    state = 'looking';
    for (let wait = timing.lookupRetryMs; ; wait = Math.min(wait * 2, longestLookupMs)) {
      const { status, body } = await calmly(temper.lookup(machine.macs, inspected ?? machine.nodeUuid));
      power.signal.throwIfAborted();
      const [node, config] = [doc(doc(body).node), doc(doc(body).config)];
      if (status === 200 && typeof node.uuid === 'string' && typeof config.agent_token === 'string') {
        nodeUuid = node.uuid;
        heartbeatMs = Number(config.heartbeat_timeout ?? 300) * 1_000;
        // A token that the API hands out counts; a mask leaves the one that came with the image.
        if (config.agent_token.length >= 32 || token === null) token = config.agent_token;
        return token.length >= 32;
      }
      await sleep(jitter(wait, 0.5, 1), undefined, { signal: power.signal });
    }
  };

  const beat = async (): Promise<Answer> => {
    const wrong = faults.strike(mac, ['wrong-beat-token']) !== undefined;
    const certificate = deps.certificate();
    const body = {
      callback_url: deps.callbackUrl,
      agent_version: agentVersion,
      agent_token: wrong ? 'x'.repeat(43) : token,
      ...(certificate && { agent_verify_ca: certificate }),
    };
    const answer = await calmly(temper.heartbeat(nodeUuid!, body));
    if (faults.strike(mac, ['replayed-beat'])) await calmly(temper.heartbeat(nodeUuid!, body));
    return answer;
  };

  // openstack/ironic-python-agent:ironic_python_agent/agent.py: 0.3 to 0.6 of what the API allows.
  const nextBeatMs = (accepted: boolean): number =>
    accepted ? jitter(Math.min(heartbeatMs, timing.beatMs ?? heartbeatMs), 0.3, 0.6) : jitter(timing.beatRetryMs, 1, 2);

  const heartbeats = async (): Promise<void> => {
    while (state === 'serving') {
      const silent = faults.strike(mac, ['no-beats']) !== undefined;
      const { status } = silent ? { status: 202 } : await beat();
      // Nobody will power this machine down: its node has, as far as the API is concerned.
      if (machine.endless && status >= 400 && status < 500 && status !== 409) return end();
      if (state === 'serving') await pauseUnlessWoken(nextBeatMs(status === 202));
    }
  };

  const live = async (): Promise<void> => {
    await sleep(timing.bootMs, undefined, { signal: power.signal });
    startedAt = Date.now() / 1_000;
    await deps.gate?.enter({ method: 'CONTACT', path: 'the ramdisk', write: false }, power.signal);
    power.signal.throwIfAborted();
    // One that was told by its kernel arguments whom to call sends what it finds only where these say so.
    const inspects = machine.boot ? machine.boot.inspectionUrl !== undefined : deps.inspects;
    const inspected = inspects ? await offerInventory() : undefined;
    power.signal.throwIfAborted();
    state = (await lookUp(inspected)) ? 'serving' : 'locked';
    await heartbeats();
  };

  const over = live().catch((error: unknown) => {
    if (!power.signal.aborted) throw error;
  });

  return {
    machine,
    state: () => state,
    get nodeUuid() {
      return nodeUuid;
    },
    get token() {
      return token;
    },
    get startedAt() {
      return startedAt;
    },
    executor,
    restart() {
      executor.forget();
      startedAt = Date.now() / 1_000;
    },
    fallSilent() {
      state = 'silent';
      power.abort(); // what it was doing stands still
      wake();
    },
    end,
    over,
  };
};
