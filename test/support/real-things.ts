/** What is there for the parameters of paths, so that a walk over the routes meets real objects. */
import { addWorker, type TestApi } from './api';
import { type Fill, worldOf } from './rule-world';

/** What a parameter stands for, by the word before it: an object of the world, or a name that is always there. */
const things: Readonly<Record<string, string>> = {
  nodes: '{node}',
  heartbeat: '{node}',
  ports: '{port}',
  portgroups: '{portgroup}',
  connectors: '{connector}',
  targets: '{target}',
  allocations: '{allocation}',
  chassis: '{chassis}',
  runbooks: '{runbook}',
  deploy_templates: '{template}',
  inspection_rules: '{inspection}',
  runs: '{running}',
  webhooks: '{webhook}',
  ramdisks: '{ramdisk}',
  'discovered-machines': '{discovered}',
  freezes: '{freeze}',
  vifs: '{vif}',
  drivers: 'redfish',
  conductors: 'worker-1',
  traits: 'CUSTOM_RULES',
  bios: 'BootMode',
  history: '00000000-0000-4000-8000-000000000001',
  indicators: 'led@chassis',
  vendor_passthru: 'eject_vmedia',
  docs: 'start.js',
};

/** Settings under which all of it can be made. */
export const thingsSettings = { webhookOrigins: ['https://hooks.example.org'] } as const;

/** One object of each kind, and a worker for all drivers that never falls silent. */
export const realThings = async (api: TestApi): Promise<Fill> => {
  await addWorker(api.sql, { drivers: ['redfish', 'ipmi', 'fake-hardware'] });
  await api.sql`update workers set updated_at = now() + interval '1 day'`;
  return worldOf(api, { console_interface: 'fake' });
};

const thingAfter = (word: string | undefined): string | undefined => things[word ?? ''];

/** A route's path with what is there; a parameter of which nothing is known stays. */
export const filledPath = (fill: Fill, path: string): Promise<string> =>
  fill(
    path
      .split('/')
      .map((segment, at, all) => (segment.startsWith(':') ? (thingAfter(all[at - 1]) ?? segment) : segment))
      .join('/'),
  );

/** What is there for each parameter of a path as the description writes it. */
export const valuesOf = async (fill: Fill, path: string): Promise<Record<string, string>> => {
  const segments = path.split('/');
  const known = segments.flatMap((segment, at) => {
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    const thing = name === undefined ? undefined : thingAfter(segments[at - 1]);
    return thing === undefined ? [] : [[name!, thing] as const];
  });
  return fill(Object.fromEntries(known));
};
