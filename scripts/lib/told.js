/** What a program of ours that looks for others' prints: what it found as JSON, or `{"missing": reason}`. */

/** @param {Promise<object>} found what to print; a failure's message is the reason */
const tell = (found) =>
  found
    .catch((failure) => ({ missing: failure.message }))
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));

module.exports = { tell };
