/** `npm run temper -- ...`: the operators' command, built first where src is newer. */

require('./lib/node-version');
const { bin } = require('./lib/paths');
const { main } = require('./lib/say');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  const answer = await run(process.execPath, [bin('temper'), ...process.argv.slice(2)], { show: true });
  return answer.status ?? 1;
});
