/** ipmitool calls: one at a time per BMC, spaced, with cipher suites tried in turn. */
import type { BmcRequestKind, DriverDeps } from '../contract';
import { createLanes } from '../lane';
import { lateError } from '../send-window';
import { pause } from '../wait';
import { findAddress } from './address';
import { commandLine } from './command';
import { runProgram } from './program';
import { fallback, type ReplyVerdict, verdictOf } from './replies';
import { withSecretFile } from './secret-file';
import type { IpmiSettings } from './settings';

type ToolRequest = {
  readonly settings: IpmiSettings;
  readonly kind: Extract<BmcRequestKind, 'read' | 'write'>;
  readonly words: readonly string[];
  readonly signal: AbortSignal;
  readonly mayStillSend: () => boolean;
  readonly renew: () => Promise<void>;
  readonly node: string;
};

export type Tool = {
  /** Throws CommandLate, ProgramMissing, BmcAddressRefused, and the signal's reason. */
  ask(ask: ToolRequest): Promise<ReplyVerdict>;
};

// A shorter time may crash a BMC: openstack/ironic:ironic/conf/ipmi.py min_command_interval.
const spacingMs = 5_000;
const answerMs = 60_000;

/** A BMC carries out a repeated write twice, so only reads are repeated. */
const tries = { read: 3, write: 1 } as const;

/** Undefined is ipmitool's own choice. All suites encrypt. */
const suites: readonly (number | undefined)[] = [undefined, 17, fallback];

/** Spaces the turns per BMC, from the end of one to the start of the next. */
const createTurns = (betweenMs: number) => {
  const lanes = createLanes();
  const ended = new Map<string, number>();
  const forget = () => {
    for (const [key, at] of ended) if (performance.now() - at >= betweenMs) ended.delete(key);
  };
  return <T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    lanes.run(key, signal, async () => {
      await pause(Math.max(0, (ended.get(key) ?? 0) + betweenMs - performance.now()), signal);
      try {
        return await work();
      } finally {
        forget();
        ended.set(key, performance.now());
      }
    });
};

const unresolved: ReplyVerdict = {
  is: 'failed',
  why: 'silent',
  code: 'BmcUnreachable',
  reason: 'its name does not resolve',
};

export const createTool = (deps: DriverDeps): Tool => {
  const limitMs = deps.limits?.answerMs ?? answerMs;
  const everySeconds = Math.min(5, Math.max(1, Math.round(limitMs / 12_000)));
  const turn = createTurns(deps.limits?.courtesy?.spacingMs ?? spacingMs);
  /** Suites by BMC that worked after ipmitool's own choice failed or was slow. */
  const working = new Map<string, number>();

  const call = async (ask: ToolRequest, suite: number | undefined): Promise<ReplyVerdict> => {
    const { settings, kind, words, signal } = ask;
    const address = await findAddress(deps, settings.address.host);
    if (address === undefined) return unresolved;
    const args = commandLine(settings, { address, suite, tries: tries[kind], everySeconds, words });
    const input = settings.kgKey && Buffer.concat([settings.kgKey, Buffer.from('\n')]);
    const program = deps.ipmitool ?? 'ipmitool';
    return withSecretFile(settings.password, async (descriptor) => {
      if (kind === 'write' && !ask.mayStillSend())
        throw lateError({ node: ask.node, bmc: settings.address.label, what: words.join(' ') });
      return verdictOf(await runProgram({ program, args, input, descriptor, limitMs, signal }));
    });
  };

  const observed = async (ask: ToolRequest, suite: number | undefined): Promise<ReplyVerdict> => {
    const began = performance.now();
    const verdict = await call(ask, suite);
    // Metrics use HTTP statuses; 0 means no answer.
    const status = verdict.is === 'answered' ? 200 : verdict.code === 'BmcUnreachable' ? 0 : 400;
    deps.observe?.request(ask.kind, performance.now() - began, status, ask.settings.address.label);
    return verdict;
  };

  const ladder = ({ transport, cipherSuite, address }: IpmiSettings): readonly (number | undefined)[] => {
    if (transport === 'lan' || cipherSuite !== undefined) return [cipherSuite];
    const known = working.get(address.label);
    return known === undefined ? suites : [known, ...suites.filter((suite) => suite !== known)];
  };

  const learn = (label: string, suite: number | undefined): void => {
    if (suite !== undefined) working.set(label, suite);
  };

  return {
    async ask(ask) {
      const { label } = ask.settings.address;
      let verdict: ReplyVerdict | undefined;
      for (const suite of ladder(ask.settings)) {
        verdict = await turn(label, ask.signal, () => observed(ask, suite));
        if (verdict.is === 'failed' && verdict.why === 'cipher') {
          if (ask.kind === 'write') await ask.renew(); // nothing was sent, and the time since the announcement counts
          continue;
        }
        if (verdict.is === 'answered') learn(label, verdict.untold ? fallback : suite);
        return verdict;
      }
      working.delete(label);
      return verdict!;
    },
  };
};
