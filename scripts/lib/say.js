/** How the set-up talks: one short line per thing it does, on stderr, so that a command's own output stays clean. */

/** A failure its reader can act on; shown without a stack. */
class Stop extends Error {}

function say(text) {
  process.stderr.write(`temper: ${text}\n`);
}

/**
 * Says what is being done, does it, and says how long it took.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function timed(what, work) {
  say(`${what} ...`);
  const started = Date.now();
  const result = await work();
  say(`${what}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Runs a command's main function; its number becomes the exit status, a `Stop` becomes a message. */
function main(command) {
  command().then(
    (status) => {
      process.exitCode = status ?? 0;
    },
    (failure) => {
      say(failure instanceof Stop ? failure.message : (failure?.stack ?? String(failure)));
      process.exitCode = 1;
    },
  );
}

module.exports = { Stop, main, say, timed };
