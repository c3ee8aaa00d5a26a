/** Which page is at which address. */
import type { RequestListener } from 'node:http';
import { actOnNode, nodePage } from './pages/node';
import { nodesPage } from './pages/nodes';
import { nowPage } from './pages/now';
import { actOnRun, runPage } from './pages/run';
import { runsPage } from './pages/runs';
import type { ConsoleSettings } from './server/context';
import { streamOf } from './server/live';
import { type ConsoleRoute, createConsole } from './server/server';

const routes: readonly ConsoleRoute[] = [
  { get: '/', page: nowPage },
  { stream: '/live', run: streamOf(() => '/temper/v1/events') },
  { get: '/nodes', page: nodesPage },
  { get: '/nodes/:node', page: nodePage },
  {
    stream: '/nodes/:node/live',
    run: streamOf(({ params }) => `/temper/v1/events?node=${encodeURIComponent(params.node!)}`),
  },
  { post: '/nodes/:node/acts', form: actOnNode },
  { get: '/runs', page: runsPage },
  { get: '/runs/:run', page: runPage },
  {
    stream: '/runs/:run/live',
    run: streamOf(({ params }) => `/temper/v1/runs/${encodeURIComponent(params.run!)}/events`),
  },
  { post: '/runs/:run/:act', form: actOnRun },
];

/** @param report takes what went wrong in the console itself */
export const consoleListener = (settings: ConsoleSettings, report: (thrown: unknown) => void): RequestListener =>
  createConsole(settings, routes, report);
