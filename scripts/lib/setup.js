/** What every command begins with: the packages, and what is built from src. */

const { ensureBuild } = require('./build');
const { ensureDependencies } = require('./deps');

async function setUp() {
  await ensureDependencies();
  await ensureBuild();
}

module.exports = { setUp };
