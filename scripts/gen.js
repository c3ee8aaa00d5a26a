/** `npm run gen`: writes the committed files that are generated from tables; `-- --check` only compares. */

require('./lib/node-version');
const { bin, root } = require('./lib/paths');
const { main } = require('./lib/say');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  const answer = await run(process.execPath, [bin('gen'), ...process.argv.slice(2)], { cwd: root, show: true });
  return answer.status ?? 1;
});
