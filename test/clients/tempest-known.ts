/** Tests of ironic-tempest-plugin that do not pass, each with the reason; a test that begins to pass must leave the list. */

const noWord = 'asks for 405 at a path that does not exist; here that is 404, whatever the method';

/** Test -> why it fails. */
export const tempestFails: Readonly<Record<string, string>> = {
  'admin.test_microversion_enforcement.TestNodeAllocationMicroversions.test_show_allocation_by_node':
    'asks for the allocation of the node "None", for the allocation has no node yet when it is created; no node has that name: 404',
  'admin.test_microversion_enforcement.TestUtilityMicroversions.test_ipa_heartbeat':
    'names the node in the body of `POST /v1/heartbeat`, and none that a ramdisk has looked up: neither is found here, 404',
  'rbac_defaults.test_nodes.TestNodeProjectReader.test_reader_cannot_set_raid_state': noWord,
  'rbac_defaults.test_nodes.TestNodeSystemReader.test_reader_cannot_set_raid_state': noWord,
};

/** Class -> why it is skipped as a whole. */
export const tempestSkips: Readonly<Record<string, string>> = {
  'setUpClass (admin.test_console.TestGraphicalConsole)': 'needs a graphical console',
  'setUpClass (admin.test_nodes.TestNodeGraphicalConsole)': 'needs a graphical console',
  'setUpClass (admin.test_nodes.TestNodesVif)': 'needs a Networking service',
};
