/** A run's history as it is kept for the replay tests. */

/** Left out because they say where a worker ran, not what it did. */
const unkept = new Set(['stackTrace', 'identity']);

/**
 * @param {string} workflowId a history is replayed under the id it ran under
 * @param {string} json of `historyToJSON`; payloads stay encoded
 * @returns {string} the file's content
 */
function keptHistory(workflowId, json) {
  const { events } = JSON.parse(json, (key, value) => (unkept.has(key) ? undefined : value));
  return `${JSON.stringify({ workflowId, events })}\n`;
}

module.exports = { keptHistory };
