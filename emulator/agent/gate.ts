/** Holds what is on its way to one machine, its BMC or its ramdisk, so that a process can be killed at a chosen moment. */

/** After `after` writes everything is held; with `answer` the last of them is executed and its answer held. */
export type GateOrder = { readonly after: number; readonly answer?: boolean };

/** One exchange at the gate. `CONTACT` is the first call of a ramdisk that has booted. */
type Passer = {
  readonly method: string;
  readonly path: string;
  /** Whether it may change something; logins and logouts count as neither and are never held. */
  readonly write: boolean;
};

export type Gate = {
  /** Before it is executed; false when whoever sent it has left, and nothing must be executed. */
  enter(passer: Passer, left: AbortSignal): Promise<boolean>;
  /** Executed, before the answer goes out; false when nobody waits for it any more. */
  leave(passer: Passer, left: AbortSignal): Promise<boolean>;
  /** Begins to count anew. */
  set(order: GateOrder): void;
  /** Lets the one pass that has been held longest. */
  step(): void;
  /** Lets everything pass, from now on. */
  open(): void;
  look(): GateLook;
};

/** `passed` counts all exchanges, `writes` those that may have changed something, both since the gate was set. */
export type GateLook = {
  readonly set: boolean;
  readonly passed: number;
  readonly writes: number;
  readonly held: readonly (Passer & { readonly answer: boolean })[];
};

type Waiting = { readonly passer: Passer; readonly answer: boolean; readonly go: (passes: boolean) => void };

/** @returns a gate that is open */
export const createGate = (): Gate => {
  let order: GateOrder | null = null;
  let waiting: Waiting[] = [];
  let passed = 0;
  let writes = 0;

  const wait = (passer: Passer, answer: boolean, left: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      if (left.aborted) return resolve(false);
      const go = (passes: boolean): void => {
        waiting = waiting.filter((one) => one !== entry);
        left.removeEventListener('abort', leave);
        resolve(passes);
      };
      const entry: Waiting = { passer, answer, go };
      const leave = () => go(false);
      left.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
    });

  return {
    async enter(passer, left) {
      const passes = !order || writes < order.after || (await wait(passer, false, left));
      if (passes) {
        passed += 1;
        if (passer.write) writes += 1;
      }
      return passes;
    },
    async leave(passer, left) {
      const held = passer.write && order?.answer === true && writes === order.after;
      return !held || wait(passer, true, left);
    },
    set(wanted) {
      order = wanted;
      passed = 0;
      writes = 0;
    },
    step: () => waiting[0]?.go(true),
    open() {
      order = null;
      for (const { go } of [...waiting]) go(true);
    },
    look: () => ({
      set: order !== null,
      passed,
      writes,
      held: waiting.map(({ passer, answer }) => ({ ...passer, answer })),
    }),
  };
};
