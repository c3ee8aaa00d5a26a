/** What can be made to go wrong with a BMC: the catalogue, and the faults that are switched on. */

import type { z } from 'zod';
import { type Fault, type FaultKind, faultKinds } from './fault-kinds';
import type { ActiveFault, Bmc } from './types';

let lastFaultId = 0;

/** Switches a fault on. `fault` has been parsed; a bad regular expression throws SyntaxError. */
export const addFault = (bmc: Bmc, fault: z.output<typeof Fault>, now: number): ActiveFault => {
  lastFaultId += 1;
  const inside = faultKinds[fault.kind].stage === 'inside';
  const bare = fault.remaining === undefined && fault.seconds === undefined;
  const seconds = fault.seconds ?? (bare && inside ? 10 : undefined);
  const active: ActiveFault = {
    ...fault,
    id: lastFaultId,
    remaining: fault.remaining ?? (bare && !inside ? 1 : undefined),
    until: seconds === undefined ? null : now + seconds * 1000,
    matcher: fault.path === undefined ? null : new RegExp(fault.path),
    value: fault.value ?? (fault.kind === 'wrong-power-state' ? bmc.state.power.shows : undefined),
    struck: 0,
  };
  bmc.faults.push(active);
  return active;
};

const isAlive = (fault: ActiveFault, now: number): boolean =>
  (fault.until === null || now < fault.until) && (fault.remaining === undefined || fault.remaining > 0);

const strike = (bmc: Bmc, fault: ActiveFault, now: number): ActiveFault => {
  fault.struck += 1;
  if (fault.remaining !== undefined) fault.remaining -= 1;
  bmc.faults = bmc.faults.filter((each) => isAlive(each, now));
  return fault;
};

/** The fault of this kind that is on, counted as struck; for subjects that misbehave from inside. */
export const faultOf = (bmc: Bmc, kind: FaultKind, now: number): ActiveFault | undefined => {
  const fault = bmc.faults.find((each) => each.kind === kind && isAlive(each, now));
  return fault && strike(bmc, fault, now);
};

const strikes = (fault: ActiveFault, method: string, path: string): boolean => {
  const { methods } = faultKinds[fault.kind];
  if (fault.matcher && !fault.matcher.test(path)) return false;
  if (fault.share !== undefined && Math.random() >= fault.share) return false;
  if (fault.method) return fault.method === method;
  return methods === 'any' || (methods === 'patch' ? method === 'PATCH' : method !== 'GET' && method !== 'HEAD');
};

/** The faults of a stage that strike this request, counted as struck, in the order they were switched on. */
export const faultsFor = (
  bmc: Bmc,
  stage: 'before' | 'after',
  request: { method: string; path: string; now: number },
): ActiveFault[] =>
  bmc.faults
    .filter(
      (fault) =>
        faultKinds[fault.kind].stage === stage &&
        isAlive(fault, request.now) &&
        strikes(fault, request.method, request.path),
    )
    .map((fault) => strike(bmc, fault, request.now));

/** How a fault is listed by the control server. */
export const faultDoc = ({ matcher: _, until, ...fault }: ActiveFault): Record<string, unknown> => ({
  ...fault,
  until: until === null ? null : new Date(until).toISOString(),
});
