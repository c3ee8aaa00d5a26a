/** The tests of what no list of names can say, by the names that the table of versions gives it. */
import type { Behaviour } from '../../../tools/gen/version-changes';
import * as nodes from './node-behaviours';
import * as resources from './resource-behaviours';

export const showBehaviour: Readonly<Record<Behaviour, nodes.Show>> = {
  'first version': nodes.firstVersion,
  'available is a state': nodes.availableIsAState,
  'nodes by name': nodes.nodesByName,
  'names are free': nodes.namesAreFree,
  'nodes begin in enroll': nodes.nodesBeginInEnroll,
  'chassis can be unset': nodes.chassisCanBeUnset,
  'inspect wait is a state': nodes.inspectWaitIsAState,
  'what is inspected rests': nodes.inspectedRests,
  'abort of an inspection': nodes.abortOfInspection,
  'lookup hands out a token': nodes.lookupHandsOutToken,
  'kinds of network': resources.kindsOfNetwork,
  'a namesake comes first': resources.namesakeComesFirst,
  'children are hidden': nodes.childrenAreHidden,
  'inspection continues': nodes.inspectionContinues,
  'ports by name': resources.portsByName,
  'switch keys come': resources.switchKeysCome,
  'suffix stays': nodes.suffixStays,
  escapes: nodes.escapes,
  'network of members': resources.networkOfMembers,
  'instance name is filled': nodes.instanceNameIsFilled,
  'switch keys go': resources.switchKeysGo,
  'request id': nodes.requestId,
  'abort of a deployment': nodes.abortOfDeployment,
  'approval by traits': resources.approvalByTraits,
  'runbook names are free': resources.runbookNamesAreFree,
};
