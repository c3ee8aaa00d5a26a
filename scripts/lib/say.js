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

/** What the file system refuses, and what its reader can do about it. */
const refusals = {
  EACCES: 'may not be written by this user: give it to the user who runs this, or choose another folder',
  EPERM: 'may not be written by this user: give it to the user who runs this, or choose another folder',
  EROFS: 'lies on a file system that is read-only: use a checkout and folders that can be written',
  ENOSPC: 'cannot be written, for the disk is full: make room and start again',
  EDQUOT: 'cannot be written, for the quota of this user is used up: make room and start again',
  EEXIST: 'is a file where a folder is wanted: name another folder, or move the file away',
  ENOTDIR: 'lies below a file where a folder is wanted: name another folder, or move the file away',
};

/** One plain sentence where a file could not be written; otherwise the failure as it is, with its stack. */
function sentenceOf(failure) {
  if (failure instanceof Stop) return failure.message;
  const says = failure && Object.hasOwn(refusals, failure.code) && failure.path && refusals[failure.code];
  return says ? `${failure.path} ${says}.` : (failure?.stack ?? String(failure));
}

/** Runs a command's main function; its number becomes the exit status, a `Stop` becomes a message. */
function main(command) {
  command().then(
    (status) => {
      process.exitCode = status ?? 0;
    },
    (failure) => {
      say(sentenceOf(failure));
      process.exitCode = 1;
    },
  );
}

module.exports = { Stop, main, say, sentenceOf, timed };
