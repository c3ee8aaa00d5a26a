/** Work that is done when it is first asked for. */

/** @returns what does the work when it is asked first, and answers the same from then on */
export const onceOnly = <T>(work: () => T): (() => T) => {
  let done: { readonly made: T } | undefined;
  return () => {
    done ??= { made: work() };
    return done.made;
  };
};
