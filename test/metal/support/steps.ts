/** Tests that go on from one another: after one that failed, the others do not wait for what never comes. */

/** Whole form, or the short one of `.ci/run`: one deployment, no ramdisk but its own. */
export const isShort = process.env.TEMPER_TEST_METAL_SHORT === '1';

const minutes = 60_000;
/** Time of one wait. It only ends what never would: an emulated processor on a busy machine is slow. */
export const withinMs = (isShort ? 30 : 60) * minutes;

export type Step = (name: string, work: () => Promise<void>) => void;

/** @param explain what is known where a step failed; it is written on stderr at once */
export const stepsOf = (explain: () => Promise<string>): Step => {
  let failed: string | undefined;
  return (name, work) =>
    test(name, async () => {
      if (failed !== undefined) throw new Error(`not begun, for it failed before: ${failed}`);
      try {
        await work();
      } catch (failure) {
        failed = name;
        process.stderr.write(`${await explain().catch((why) => `nothing is known of the node: ${why}`)}\n`);
        throw failure;
      }
    });
};

const begun = Date.now();

/** Notes on stderr how far the life is: minutes are long. */
export const note = (what: string): void => {
  process.stderr.write(`${String(Math.round((Date.now() - begun) / 1000)).padStart(5)} s  ${what}\n`);
};
