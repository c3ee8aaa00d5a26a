/** Memoisation of a function without arguments. */

/** @returns a function that runs `work` once and then returns the same result */
export const onceOnly = <T>(work: () => T): (() => T) => {
  let done: { readonly made: T } | undefined;
  return () => {
    done ??= { made: work() };
    return done.made;
  };
};
