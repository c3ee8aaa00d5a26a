/** What can run on a node, with arguments: nobody must read source to write a runbook. */
import { maxMinor } from '../../model/microversions';
import { reservedSteps, type StepRow, stepsOf } from '../../model/steps';
import { nodeTarget } from '../../policy';
import { ok, route } from '../route';
import { visibleNode } from '../visibility';

const rule = 'temper:node:steps';

const shown = (row: StepRow) => ({
  interface: row.interface,
  step: row.step,
  description: row.says,
  verbs: row.verbs,
  /** Above 0: part of automated cleaning. */
  priority: row.priority,
  args: row.args,
  abortable: row.abortable,
  may_park: row.parks,
  reserved: false,
});

const reserved = Object.entries(reservedSteps).map(([step, row]) => ({
  interface: null,
  step,
  description: row.says,
  verbs: ['clean', 'service'],
  priority: 0,
  args: row.args,
  abortable: true,
  may_park: false,
  reserved: true,
}));

export const stepRoutes = [
  route<{ node: string }>({
    method: 'GET',
    path: '/temper/v1/nodes/:node/steps',
    rules: ['baremetal:node:get', rule],
    async handler(asking, rooms) {
      const node = await visibleNode(rooms, { who: asking.who, version: maxMinor }, asking.params.node);
      rooms.policy().require(rule, asking.who, nodeTarget(node));
      return ok({ driver: node.driver, steps: [...stepsOf(node).map(shown), ...reserved] });
    },
  }),
];
