/** `npm run record -- <workflow id> [scenario]`: keeps the history of a run for the replay tests, payloads as they are. */

require('./lib/node-version');
const fs = require('node:fs');
const path = require('node:path');
const { keptHistory } = require('./lib/history');
const { dataDir, readJson, root } = require('./lib/paths');
const { main, say, Stop } = require('./lib/say');
const { namespace } = require('./lib/temporal-settings');
const { recordOf } = require('./lib/orphans');
const { setUp } = require('./lib/setup');

const histories = path.join(root, 'test', 'replay', 'histories');
const usage =
  'npm run record -- <workflow id> [scenario]; the scenario names the file, like clean-succeeds (default: the verb)';

/** Histories are never edited, so every recording is a new file: <scenario>.<n>.json. */
function nextFile(scenario) {
  for (let n = 1; ; n++) {
    const file = path.join(histories, `${scenario}.${n}.json`);
    if (!fs.existsSync(file)) return file;
  }
}

/** Ids name node, verb and run, with dots between; others name the file themselves. */
const verbOf = (workflowId = '') => workflowId.split('.')[1] ?? workflowId;

function temporalAddress() {
  const address = process.env.TEMPER_TEMPORAL_ADDRESS ?? readJson(recordOf(dataDir()))?.addresses.temporal;
  if (!address) throw new Stop('No Temporal server: run `npm start`, or set TEMPER_TEMPORAL_ADDRESS.');
  return address;
}

main(async () => {
  const [workflowId, scenario = verbOf(workflowId), ...rest] = process.argv.slice(2);
  if (!workflowId || !/^[a-z0-9-]+$/.test(scenario) || rest.length > 0) throw new Stop(usage);
  await setUp();
  const { Client, Connection } = require('@temporalio/client');
  const { historyToJSON } = require('@temporalio/common/lib/proto-utils');
  const connection = await Connection.connect({ address: temporalAddress() });
  try {
    const history = await new Client({ connection, namespace }).workflow.getHandle(workflowId).fetchHistory();
    const file = nextFile(scenario);
    fs.mkdirSync(histories, { recursive: true });
    fs.writeFileSync(file, keptHistory(workflowId, historyToJSON(history)));
    say(`recorded ${path.relative(root, file)}`);
  } finally {
    await connection.close();
  }
});
