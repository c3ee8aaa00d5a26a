/** How Temper runs a Temporal dev server: its search attributes and the settings that make it fast and exact. */

const path = require('node:path');
const { dist } = require('./paths');

const namespace = 'temper';

const dynamicConfig = {
  // The default of 20 polls a second and shard makes every dispatch wait up to 50 ms.
  'history.transferProcessorMaxPollRPS': '1000',
  // The default of 1 s rounds every shorter timer up to it. The value is JSON, hence the inner quotes.
  'history.timerProcessorMaxTimeShift': '"10ms"',
  // Off by default before server 1.32.
  'system.enableActivityEagerExecution': 'true',
  // Projects take turns on a queue where work waits; priorities are on by default.
  'matching.enableFairness': 'true',
};

/** Without these a file is five to seven times slower. */
const pragmas = { journal_mode: 'WAL', synchronous: 'NORMAL' };

/** What operators can search runs by, name -> type as the CLI spells it; the product's own list, as it was built. */
function searchAttributes() {
  const { TypedSearchAttributes } = require('@temporalio/common');
  const { attributes } = require(path.join(dist, 'workflows', 'contract.js'));
  return Object.fromEntries(
    Object.values(attributes).map(({ name, type }) => [name, TypedSearchAttributes.toMetadataType(type)]),
  );
}

const each = (flag, table) => Object.entries(table).flatMap(([key, value]) => [flag, `${key}=${value}`]);

/**
 * Arguments of `temporal`.
 * @param {{port: number, uiPort?: number, file?: string}} wish no `uiPort`: no UI; no `file`: everything is in memory
 */
function devServerArgs({ port, uiPort, file }) {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...['--namespace', namespace, '--log-level', 'error'],
    ...(uiPort ? ['--ui-port', String(uiPort)] : ['--headless']),
    ...(file ? ['--db-filename', file, ...each('--sqlite-pragma', pragmas)] : []),
    ...each('--search-attribute', searchAttributes()),
    ...each('--dynamic-config-value', dynamicConfig),
  ];
}

module.exports = { devServerArgs, dynamicConfig, namespace, searchAttributes };
