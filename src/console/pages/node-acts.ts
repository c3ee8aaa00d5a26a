/** Requests that the forms of a node's page cause. */
import type { ListedRun, Rerun } from '../../wire/runs';
import type { Api } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer } from '../server/context';
import { addressSaying } from '../server/session';
import { runAddress } from './runs';

export type Order = readonly [method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown];

const maintenancePath = (node: string): string => `/v1/nodes/${node}/maintenance`;

export const orderOf = (node: string, form: FormContext['form']): Order | undefined => {
  const [reason, target, verb, runbook, run] = ['reason', 'target', 'verb', 'runbook', 'run'].map((name) => fieldOf(form, name)); // biome-ignore format: one row
  switch (fieldOf(form, 'what')) {
    case 'verb':
      return ['PUT', `/v1/nodes/${node}/states/provision`, { target: verb, ...(runbook && { runbook }) }];
    case 'mend':
      return run
        ? ['POST', `/temper/v1/runs/${encodeURIComponent(run)}/rerun`, { reason }]
        : ['PUT', `/v1/nodes/${node}/states/provision`, { target: verb }];
    case 'power':
      return ['PUT', `/v1/nodes/${node}/states/power`, { target }];
    case 'maintenance-on':
      return ['PUT', maintenancePath(node), { reason }];
    case 'maintenance-off':
      return ['DELETE', maintenancePath(node)];
    case 'console-on':
    case 'console-off':
      return ['PUT', `/v1/nodes/${node}/states/console`, { enabled: fieldOf(form, 'what') === 'console-on' }];
    case 'freeze':
      return ['POST', `/temper/v1/nodes/${node}/freezes`, { reason }];
    default:
      return undefined;
  }
};

/** Results of acts that start no run. */
const done: Readonly<Record<string, string>> = {
  'maintenance-on': 'The node is in maintenance now.',
  'maintenance-off': 'Maintenance has ended.',
  freeze: 'The node is frozen now.',
  'console-on': 'The serial console is enabled.',
  'console-off': 'The serial console is disabled.',
  verb: 'The API has accepted the request.',
};

const startsRun: readonly string[] = ['verb', 'mend', 'power'];

/** Address of the run that a request has started; of the node if it started none. */
export const startedOn = async (api: Api, node: string): Promise<string> => {
  const [run] = await api.list<ListedRun>('/temper/v1/runs', { node, state: 'open', limit: 1 });
  return run ? runAddress(run) : `/nodes/${encodeURIComponent(node)}`;
};

/** Redirects to the caused run, to the dry run, or to the node, which says what was done. */
export const actOnNode = async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
  const ident = encodeURIComponent(params.node!);
  const [what, page] = [fieldOf(form, 'what'), `/nodes/${ident}`];
  if (fieldOf(form, 'preview'))
    return { to: `${page}/plan?${new URLSearchParams({ runbook: fieldOf(form, 'runbook'), verb: fieldOf(form, 'verb') })}` }; // biome-ignore format: one address
  const order = orderOf(ident, form);
  if (!order) return { to: page };
  const [method, path, body] = order;
  if (what === 'mend') await api.send('DELETE', maintenancePath(ident), undefined);
  const answer = await api.send<Partial<Rerun>>(method, path, body, fieldOf(form, 'key') || undefined);
  if (answer.run) return { to: runAddress({ uuid: answer.run }) };
  const to = startsRun.includes(what) ? await startedOn(api, params.node!) : page;
  const will = done[what];
  return { to: will && to === page ? addressSaying(session, page, will) : to };
};
