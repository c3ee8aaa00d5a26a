/** What every command begins with: the packages, and what is built from src. */

const { ensureBuild, ensureTools } = require('./build');
const { ensureDependencies } = require('./deps');

async function setUp() {
  await ensureDependencies();
  await ensureBuild();
  await ensureTools();
}

module.exports = { setUp };
