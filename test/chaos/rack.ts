/** The control door of the rack, as chaos uses it: gates, journals, BMCs as new. */
import { z } from 'zod';
import type { RackBmc, SystemRecord } from '../../demo/system';
import type { GateLook, GateOrder } from '../../emulator/agent/gate';

const Written = z.looseObject({
  seq: z.number(),
  bmc: z.number(),
  method: z.string(),
  path: z.string(),
  content: z.unknown(),
  effect: z.enum(['converge', 'once']),
  accepted: z.boolean(),
  session: z.boolean(),
});
/** A write as a BMC's journal has it. */
export type Written = z.infer<typeof Written>;

const Ordered = z.looseObject({
  seq: z.number(),
  mac: z.string(),
  command: z.string(),
  step: z.string().nullable(),
  destructive: z.boolean(),
});
/** A command as the ramdisks' journal has it. */
export type Ordered = z.infer<typeof Ordered>;

const reachTimes = 5;

/** A connection that the rack closed just as it was taken for the next request is made anew: no answer was lost. */
const reach = async (url: string, init: RequestInit): Promise<Response> => {
  for (let tried = 1; ; tried++) {
    try {
      return await fetch(url, init);
    } catch (failure) {
      if (tried >= reachTimes) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 200 * tried));
    }
  }
};

export const chaosRack = ({ addresses }: SystemRecord) => {
  const at = addresses.rackControl.replace(/\/(control\/?)?$/, '');
  const call = async <T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown): Promise<T> => {
    const response = await reach(`${at}/control${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`rack: ${method} ${path} answered ${response.status}: ${text}`);
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  };
  const order = (method: string, path: string, body?: unknown) => call(method, path, z.unknown(), body);
  return {
    bmcs: async () => (await call('GET', '/bmcs', z.object({ bmcs: z.custom<RackBmc[]>() }))).bmcs,
    gates: async () => (await call('GET', '/gates', z.object({ gates: z.custom<GateLook[]>() }))).gates,
    setGate: (bmc: number, gate: GateOrder) => order('POST', `/bmcs/${bmc}/gate`, gate),
    stepGate: (bmc: number) => order('POST', `/bmcs/${bmc}/gate/step`),
    openGate: (bmc: number) => order('DELETE', `/bmcs/${bmc}/gate`),
    renew: (bmc: number, power: 'On' | 'Off') => order('POST', `/bmcs/${bmc}/renew`, { power }),
    press: (bmc: number) => order('POST', `/bmcs/${bmc}/press-power-button`),
    rotate: () => order('POST', '/certificate'),
    state: (bmc: number) =>
      call('GET', `/bmcs/${bmc}/state`, z.looseObject({ power: z.looseObject({ shows: z.string() }) })),
    fault: (bmc: number, fault: object) => order('POST', `/bmcs/${bmc}/faults`, fault),
    clearFaults: (bmc: number) => order('DELETE', `/bmcs/${bmc}/faults`),
    written: async (bmc: number, since = 0) =>
      (await call('GET', `/journal?bmc=${bmc}&since=${since}`, z.object({ entries: z.array(Written) }))).entries,
    writtenByAll: async (since: number) =>
      (await call('GET', `/journal?since=${since}`, z.object({ entries: z.array(Written) }))).entries,
    ordered: async (mac: string, since = 0) =>
      (await call('GET', `/agents/journal?mac=${mac}`, z.object({ entries: z.array(Ordered) }))).entries.filter(
        (entry) => entry.seq > since,
      ),
  };
};
