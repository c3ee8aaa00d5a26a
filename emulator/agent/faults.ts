/** What can be made to go wrong with an emulated ramdisk. */
import { z } from 'zod';

export const agentFaultKinds = {
  'wrong-token': 'answers 401, as if the token on record were wrong',
  busy: 'answers 409 to commands',
  'lost-reply': 'takes the command, then closes the connection without an answer',
  silent: 'takes requests and never answers',
  'drop-before': 'closes the connection without reading the request',
  redirect: 'answers 302 to another host',
  huge: 'answers with far more than anybody wants',
  garbled: 'answers with a page of HTML',
  restart: 'forgets all commands before it answers, as a new process would',
  'step-fails': 'ends the command as FAILED',
  'version-mismatch': 'ends the command as CLEAN_VERSION_MISMATCH',
  'odd-result': 'ends the command with a result that does not fit',
  'odd-texts': 'ends the command with steps whose names and descriptions hold what no store takes',
  stuck: 'never ends the command',
  'wrong-beat-token': 'heartbeats with a wrong token',
  'replayed-beat': 'sends its heartbeats a second time',
  'no-beats': 'does not heartbeat',
  reset:
    'takes the command, and its machine starts again by itself, with the token of its image and another certificate, which from then on all ramdisks of the rack show',
  gone: 'takes the command, and from then on neither answers nor heartbeats, until its machine boots again',
} as const satisfies Record<string, string>;

export type AgentFaultKind = keyof typeof agentFaultKinds;

export const AgentFault = z.strictObject({
  kind: z.enum(Object.keys(agentFaultKinds) as [AgentFaultKind, ...AgentFaultKind[]]),
  /** How often it strikes; once when absent. */
  remaining: z.number().int().positive().optional(),
  /** Only this method of HTTP. */
  method: z.enum(['GET', 'POST']).optional(),
  /** Only commands and steps whose name contains it. */
  match: z.string().max(200).optional(),
});
export type AgentFault = z.infer<typeof AgentFault>;

export type Faults = {
  add(mac: string, fault: AgentFault): void;
  clear(mac?: string): void;
  /** The first of these kinds that strikes, counted as struck. */
  strike(
    mac: string,
    kinds: readonly AgentFaultKind[],
    about?: { method?: string; name?: string },
  ): AgentFaultKind | undefined;
};

type Active = AgentFault & { left: number };

const strikes = (fault: Active, { method, name }: { method?: string; name?: string }): boolean =>
  (fault.method === undefined || fault.method === method) &&
  (fault.match === undefined || name?.includes(fault.match) === true);

/** Faults by machine (its first MAC address); they outlive its reboots. */
export const createFaults = (): Faults => {
  const active = new Map<string, Active[]>();
  return {
    add: (mac, fault) => {
      active.set(mac, [...(active.get(mac) ?? []), { ...fault, left: fault.remaining ?? 1 }]);
    },
    clear: (mac) => (mac === undefined ? active.clear() : void active.delete(mac)),
    strike(mac, kinds, about = {}) {
      const found = active
        .get(mac)
        ?.find((fault) => fault.left > 0 && kinds.includes(fault.kind) && strikes(fault, about));
      if (found) found.left -= 1;
      return found?.kind;
    },
  };
};
