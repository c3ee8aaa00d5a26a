/** Shows of a verb that older versions refuse it, and that it reaches the runs from the version on that brought it. */
import type { Change } from '../../../tools/gen/version-changes';
import { holder } from '../../support/provisioning';
import type { NodeColumns } from '../../support/rule-world';
import { ask, type Bench, expectGood, expectRefused, sidesOf } from './bench';

const power = { interface: 'power', step: 'reboot' };

/** State of the node, and what the request says besides the verb. */
const samples: Readonly<Record<string, readonly [state: string, body?: object, columns?: NodeColumns]>> = {
  manage: ['enroll'],
  provide: ['manageable'],
  inspect: ['manageable'],
  abort: ['clean wait', {}, { reservation: holder }],
  clean: ['manageable', { clean_steps: [power] }],
  adopt: ['manageable'],
  rescue: ['active', { rescue_password: 'correct horse' }],
  unrescue: ['rescue'],
  deploy: ['available'],
  undeploy: ['active'],
  unhold: ['clean hold', {}, { reservation: holder }],
  service: ['active', { service_steps: [power] }],
};

/** How many orders of any kind have reached the runs. */
const orders = ({ api: { runs } }: Bench): number => runs.started.length + runs.moved.length + runs.sent.length;

/** Shows each of the verbs on both sides of the version. */
export const showVerbs = async (
  bench: Bench,
  { names }: Extract<Change, { is: 'verbs' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  for (const verb of names) {
    const [provision_state, more, columns] = samples[verb]!;
    const node = await bench.world({ ...columns, provision_state })('{node}');
    const request = `PUT /v1/nodes/${node}/states/provision`;
    const body = { target: verb, ...more };
    const known = orders(bench);
    expectRefused(verb, await ask(bench, before, request, body), 406, minor);
    expect([verb, orders(bench)]).toEqual([verb, known]);
    const done = await ask(bench, from, request, body);
    expectGood(verb, done);
    expect([verb, done.status, orders(bench)]).toEqual([verb, 202, known + 1]);
  }
};
