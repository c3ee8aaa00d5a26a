/** `npm run site`: the documents as a site, in a folder that a browser opens without a server; `-- --out DIR` says where. */

require('./lib/node-version');
const { bin, root } = require('./lib/paths');
const { main } = require('./lib/say');
const { run } = require('./lib/run');
const { setUp } = require('./lib/setup');

main(async () => {
  await setUp();
  const answer = await run(process.execPath, [bin('site'), ...process.argv.slice(2)], { cwd: root, show: true });
  return answer.status ?? 1;
});
