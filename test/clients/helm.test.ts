/** The chart, linted and rendered by Helm's own code; each document that comes out is read as Kubernetes' API server reads it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { processes } from '../../src/process/settings/config';
import { foundBy, suiteOf } from '../support/found';

const { program, missing } = foundBy<{ program: string }>('go.js', 'helm');
const shipped = join(__dirname, '../../deploy/helm/temper');

type Peer = Readonly<Record<string, unknown>>;
type Rule = { readonly to?: Peer[]; readonly from?: Peer[]; readonly ports?: { port: number }[] };
type Container = {
  readonly name: string;
  readonly image: string;
  readonly args: string[];
  readonly env?: { name: string; value: string }[];
  readonly envFrom: { secretRef: { name: string } }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly readinessProbe?: { httpGet: { path: string } };
};
type Pod = {
  readonly containers: Container[];
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: object;
};
type Document = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly template?: { readonly spec: Pod }; readonly ingress?: Rule[]; readonly egress?: Rule[] };
};
type Verdict = {
  readonly faults: string[];
  readonly kinds: Readonly<Record<string, number>>;
  readonly documents: Document[];
};

const at = (cidr: string): Peer => ({ ipBlock: { cidr } });
/** An installation that uses all that the chart offers. */
const whole = {
  settings: { files: 'temper-files' },
  boot: { enabled: true, volume: { persistentVolumeClaim: { claimName: 'images' } } },
  bmc: {
    groups: [
      { name: 'default', replicas: 2 },
      { name: 'rack-1', group: 'rack-1', secret: 'temper-bmc-rack-1', nodeSelector: { rack: 'one' } },
    ],
  },
  networkPolicy: {
    postgres: [at('10.0.0.5/32')],
    temporal: [at('10.0.0.7/32')],
    identity: [at('10.0.0.9/32')],
    bmcs: [at('10.9.0.0/16')],
    hooks: [at('203.0.113.0/24')],
    callers: [at('10.1.0.0/16')],
    browsers: [at('10.2.0.0/16')],
    metrics: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
  },
};

suiteOf('the Helm chart', missing)('the Helm chart', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-chart-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const judged = (values: object = {}, chart = shipped): Verdict => {
    const file = join(dir, 'values.yaml');
    writeFileSync(file, stringify(values));
    const { stdout, stderr } = spawnSync(program!, [chart, file], { encoding: 'utf8', maxBuffer: 1e8 });
    return JSON.parse(stdout || JSON.stringify({ faults: [stderr], kinds: {}, documents: [] }));
  };
  const podsOf = ({ documents }: Verdict): [string, Pod][] =>
    documents.flatMap(({ metadata, spec }) =>
      spec.template ? [[metadata.name, spec.template.spec] as [string, Pod]] : [],
    );

  test('is right with its own values, and with all that they offer', () => {
    expect(judged()).toMatchObject({
      faults: [],
      kinds: { Deployment: 4, Job: 1, NetworkPolicy: 5, PodDisruptionBudget: 4, Service: 2 },
    });
    expect(judged(whole)).toMatchObject({
      faults: [],
      kinds: { Deployment: 6, Job: 1, NetworkPolicy: 7, PodDisruptionBudget: 4, Service: 3 },
    });
  });

  test.each([
    ['a key that no value has', { api: { replica: 3 } }, /replica/],
    ['a number of replicas in words', { api: { replicas: 'two' } }, /replicas/],
    ['a group without a name', { bmc: { groups: [{ group: 'rack-1' }] } }, /name/],
    ['a peer that is a text', { networkPolicy: { postgres: ['10.0.0.5'] } }, /networkPolicy|object/],
    [
      'a peer that Kubernetes does not know',
      { networkPolicy: { postgres: [{ ipblock: { cidr: '10.0.0.0/8' } }] } },
      /unknown field.*ipblock/,
    ],
  ])('refuses %s', (_, values, says) => {
    expect(judged(values).faults.join('\n')).toMatch(says);
  });

  test('a field of a template that Kubernetes does not know is found', () => {
    const broken = join(dir, 'temper');
    cpSync(shipped, broken, { recursive: true });
    const file = join(broken, 'templates/_process.tpl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('maxSurge: 1', 'maxSurges: 1'));
    expect(judged({}, broken).faults.join('\n')).toMatch(/unknown field.*maxSurges/);
  });

  test('each process is given the shared settings and its own, no key of the cluster, and no right that it does not need', () => {
    for (const [name, pod] of podsOf(judged(whole))) {
      const [container] = pod.containers;
      const own = `temper-${container!.name}`;
      const given = container!.envFrom.map(({ secretRef }) => secretRef.name);
      expect([name, given]).toEqual([
        name,
        ['temper-shared', own, ...(name.endsWith('rack-1') ? ['temper-bmc-rack-1'] : [])],
      ]);
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      expect(container!.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const settings = Object.keys(processes[container!.name as keyof typeof processes].shape);
      expect((container!.env ?? []).filter((one) => !settings.includes(one.name))).toEqual([]);
      if (container!.name !== 'migrate') expect(container!.readinessProbe!.httpGet.path).toBe('/readyz');
    }
  });

  test('migrate comes first, and one process at a time can be given the new release', () => {
    const { documents } = judged({ tags: { migrate: '2.0', bmc: '2.0' }, image: { tag: '1.0' } });
    const job = documents.find(({ kind }) => kind === 'Job')!;
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    const images = podsOf({ documents } as Verdict).map(([name, pod]) => [name, pod.containers[0]!.image]);
    expect(Object.fromEntries(images)).toEqual({
      'temper-api': 'temper:1.0',
      'temper-console': 'temper:1.0',
      'temper-migrate': 'temper:2.0',
      'temper-worker-bmc-default': 'temper:2.0',
      'temper-worker-control': 'temper:1.0',
    });
  });

  /** Who may reach what, of every policy. */
  const reach = (verdict: Verdict, way: 'ingress' | 'egress') =>
    Object.fromEntries(
      verdict.documents
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ metadata, spec }) => [
          metadata.name.replace('temper-', ''),
          (spec[way] ?? []).flatMap(({ to, from, ports }) =>
            (to ?? from ?? [{ ipBlock: { cidr: 'any' } }]).flatMap((peer) => {
              const { ipBlock, podSelector } = peer as {
                ipBlock?: { cidr: string };
                podSelector?: { matchLabels: Record<string, string> };
              };
              const name = ipBlock?.cidr ?? podSelector?.matchLabels['app.kubernetes.io/component'];
              return name ? [`${name}:${ports?.[0]?.port ?? 'any'}`] : [];
            }),
          ),
        ]),
    );

  test('each process reaches what it works with, and nothing else', () => {
    const [postgres, temporal, identity, bmcs] = [
      '10.0.0.5/32:5432',
      '10.0.0.7/32:7233',
      '10.0.0.9/32:443',
      '10.9.0.0/16:any',
    ];
    expect(reach(judged(whole), 'egress')).toEqual({
      migrate: [postgres, temporal],
      api: [postgres, temporal, identity],
      'worker-control': [postgres, temporal, identity, '203.0.113.0/24:any'],
      console: [identity, 'api:6385'],
      'worker-bmc-default': [postgres, temporal, bmcs],
      'worker-bmc-rack-1': [postgres, temporal, bmcs],
      boot: [postgres],
    });
  });

  test('each process is reached by those it serves; workers and migrate by metrics alone', () => {
    const served = {
      api: ['10.1.0.0/16:6385', 'console:6385'],
      console: ['10.2.0.0/16:6380'],
      boot: ['10.9.0.0/16:6386'],
    };
    const none = { migrate: [], 'worker-control': [], 'worker-bmc-default': [], 'worker-bmc-rack-1': [] };
    expect(reach(judged(whole), 'ingress')).toEqual({ ...none, ...served });
  });

  test('where nothing is said of a network, nothing is let through to it; callers and browsers may come from anywhere', () => {
    const silent = judged({ boot: { enabled: true } });
    expect(reach(silent, 'egress')).toMatchObject({
      api: [],
      'worker-bmc-default': [],
      console: ['api:6385'],
      boot: [],
    });
    expect(reach(silent, 'ingress')).toMatchObject({
      api: ['any:6385', 'console:6385'],
      console: ['any:6380'],
      boot: [],
    });
  });

  test("its version is the product's", () => {
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
    expect(parse(readFileSync(join(shipped, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
  });
});
