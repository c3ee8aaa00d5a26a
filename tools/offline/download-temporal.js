/** A program: lets the SDK download the Temporal CLI into the given folder, and gives up when nothing arrives. */

const fs = require('node:fs');
const path = require('node:path');

const [folder] = process.argv.slice(2);

/** How long the network may stay silent: a refusal comes at once, a firewall that drops everything never. */
const silenceMs = 15_000;

const bytes = () =>
  fs
    .readdirSync(folder)
    .reduce((sum, name) => sum + (fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);

let seen = 0;
let heard = Date.now();
const watch = setInterval(() => {
  const now = bytes();
  if (now !== seen) heard = Date.now();
  seen = now;
  if (Date.now() - heard > silenceMs) give(`nothing arrived for ${silenceMs / 1000} s`);
}, 1_000);

function give(reason) {
  clearInterval(watch);
  process.stderr.write(`${reason}\n`, () => process.exit(1));
}

async function download() {
  // Only installed for development, like everything else that tests need.
  const { TestWorkflowEnvironment } = require('@temporalio/testing');
  const executable = /** @type {const} */ ({ type: 'cached-download', downloadDir: folder });
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  await environment.teardown();
  clearInterval(watch);
}

// The innermost cause is what the network said; the rest repeats the address.
download().catch((failure) =>
  give(
    String(failure.message)
      .replace(/^.*client error/s, '')
      .trim(),
  ),
);
