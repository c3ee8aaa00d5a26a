/** What a program of ours that looks for others' prints: what it found as JSON, or `{"missing": reason}`. */

const print = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

/** @param {Promise<object>} found what to print; a failure's message is the reason */
function tell(found) {
  found.then(print, (failure) => print({ missing: failure.message }));
}

module.exports = { tell };
