/** The order of test files in `npm run mutation`: those that need no server first, so that most mutants are noticed within a second. */

const fs = require('node:fs');

// What starts a database or an engine for a test file.
const servers = /support\/(api|engine|held-act|own-temporal|provisioning|ramdisk-api|rule-world|servers|stores|world)'/;

class Order {
  sort(tests) {
    const rank = ({ path }) => (servers.test(fs.readFileSync(path, 'utf8')) ? 1 : 0);
    return [...tests].sort((one, other) => rank(one) - rank(other) || one.path.localeCompare(other.path));
  }

  // Durations of earlier runs are of no use to it.
  cacheResults() {}
}

module.exports = Order;
