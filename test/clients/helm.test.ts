/** The chart, linted and rendered by Helm's own code; each document that comes out is read as Kubernetes' API server reads it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
  readonly env?: { name: string; value?: string; valueFrom?: object }[];
  readonly ports?: { name: string; containerPort: number }[];
  readonly volumeMounts: { name: string; readOnly?: boolean }[];
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
  readonly spec: {
    readonly replicas?: number;
    readonly template?: { readonly spec: Pod };
    readonly ingress?: Rule[];
    readonly egress?: Rule[];
    readonly type?: string;
    readonly externalTrafficPolicy?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: { port: number; targetPort: string }[];
  };
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
  api: {
    ramdisks: { enabled: true, service: { type: 'ClusterIP' } },
    ingress: { enabled: true, className: 'nginx', host: 'temper.example.org', tlsSecret: 'api-tls' },
  },
  console: { ingress: { enabled: true, host: 'console.example.org', tlsSecret: 'console-tls' } },
  podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  boot: { enabled: true, passesOn: true, volume: { persistentVolumeClaim: { claimName: 'images' } } },
  notifications: { enabled: true },
  engineMetrics: { enabled: true },
  bmc: {
    groups: [
      { name: 'default', replicas: 2 },
      {
        name: 'rack-1',
        group: 'rack-1',
        secret: 'temper-bmc-rack-1',
        nodeSelector: { rack: 'one' },
        console: { publicUrl: 'https://console-rack-1.example.org' },
      },
    ],
  },
  networkPolicy: {
    postgres: [at('10.0.0.5/32')],
    temporal: [at('10.0.0.7/32')],
    identity: [at('10.0.0.9/32')],
    bmcs: [at('10.9.0.0/16')],
    hooks: [at('203.0.113.0/24')],
    rabbit: [at('10.0.0.14/32')],
    glance: [at('10.0.0.13/32')],
    images: [at('203.0.113.9/32')],
    policies: [at('10.0.0.11/32')],
    traces: [at('10.0.0.12/32')],
    consoles: [at('10.3.0.0/16')],
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
      kinds: { Deployment: 4, Job: 1, NetworkPolicy: 6, Pod: 1, PodDisruptionBudget: 4, Service: 2 },
    });
    expect(judged(whole)).toMatchObject({
      faults: [],
      kinds: {
        Deployment: 8,
        Ingress: 2,
        Job: 1,
        NetworkPolicy: 10,
        Pod: 1,
        PodDisruptionBudget: 5,
        PodMonitor: 1,
        Service: 5,
      },
    });
  });

  test.each([
    ['a key that no value has', { api: { replica: 3 } }, /replica/],
    ['a number of replicas in words', { api: { replicas: 'two' } }, /replicas/],
    ['a console without an address', { bmc: { groups: [{ name: 'a', console: {} }] } }, /publicUrl/],
    [
      'a console by another scheme',
      { bmc: { groups: [{ name: 'a', console: { publicUrl: 'tcp://a' } }] } },
      /publicUrl/,
    ],
    ['a group without a name', { bmc: { groups: [{ group: 'rack-1' }] } }, /name/],
    [
      'two groups of one name',
      { bmc: { groups: [{ name: 'a' }, { name: 'a', group: 'rack-1' }] } },
      /bmc\.groups: the name a comes twice/,
    ],
    [
      'ramdisks passed on to a port that is not there',
      { boot: { enabled: true, passesOn: true, volume: { emptyDir: {} } } },
      /api\.ramdisks\.enabled/,
    ],
    ['a boot service without a folder of images', { boot: { enabled: true } }, /boot\.volume: it has to say/],
    [
      'a service by a name that none can have',
      { bmc: { groups: [{ name: 'a'.repeat(40), console: { publicUrl: 'https://a' } }] } },
      /the service temper-worker-bmc-a{40}-console has 66 characters, and Kubernetes admits 63/,
    ],
    ['a label that is no text', { bmc: { groups: [{ name: 'a', nodeSelector: { gpu: true } }] } }, /nodeSelector.*gpu/],
    ['an annotation that is no text', { api: { service: { annotations: { seconds: 60 } } } }, /annotations.*seconds/],
    ['a secret by a name that none can have', { settings: { files: 'a, optional: true' } }, /settings.*files/],
    ['settings by a prefix that no secret can have', { settings: { prefix: 'Temper_1' } }, /settings.*prefix/],
    ['metrics of the engine on the port of the health page', { engineMetrics: { port: 9090 } }, /engineMetrics.*port/],
    ['an Ingress without a host', { api: { ingress: { enabled: true, tlsSecret: 'tls' } } }, /ingress.*host/],
    ['an Ingress without TLS', { console: { ingress: { enabled: true, host: 'a.example' } } }, /ingress.*tlsSecret/],
    ['an interval without a unit', { podMonitor: { interval: '30' } }, /podMonitor.*interval/],
    ['a digest that is cut short', { image: { tag: 'sha256:abc' } }, /image.*tag/],
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
    const digest = `sha256:${'ab'.repeat(32)}`;
    const { documents } = judged({ tags: { migrate: '2.0', bmc: digest }, image: { tag: '1.0' } });
    const job = documents.find(({ kind }) => kind === 'Job')!;
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    const images = podsOf({ documents } as Verdict).map(([name, pod]) => [name, pod.containers[0]!.image]);
    expect(Object.fromEntries(images)).toEqual({
      'temper-api': 'temper:1.0',
      'temper-console': 'temper:1.0',
      'temper-migrate': 'temper:2.0',
      'temper-worker-bmc-default': `temper@${digest}`,
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
    const [policies, traces, images] = ['10.0.0.11/32:any', '10.0.0.12/32:4318', '203.0.113.9/32:any'];
    const glance = '10.0.0.13/32:any';
    expect(reach(judged(whole), 'egress')).toEqual({
      migrate: [postgres, temporal],
      api: [postgres, temporal, identity, glance, traces, policies],
      'api-ramdisks': [postgres, temporal, traces, policies],
      'worker-control': [postgres, temporal, identity, glance, traces, policies, '203.0.113.0/24:any'],
      console: [identity, 'api:6385'],
      test: ['api:6385', 'console:6380'],
      'worker-bmc-default': [postgres, temporal, traces, bmcs, images, 'boot:6386'],
      'worker-bmc-rack-1': [postgres, temporal, traces, bmcs, images, 'boot:6386'],
      boot: [postgres, images, identity, glance, 'api-ramdisks:6387'],
      notifications: [postgres, '10.0.0.14/32:5671'],
    });
  });

  test('each process is reached by those it serves; workers and migrate by metrics alone', () => {
    const served = {
      api: ['10.1.0.0/16:6385', 'console:6385', 'test:6385'],
      'api-ramdisks': ['10.9.0.0/16:6387', 'boot:6387'],
      console: ['10.2.0.0/16:6380', 'test:6380'],
      boot: ['10.9.0.0/16:6386', 'worker-bmc-default:6386', 'worker-bmc-rack-1:6386'],
      'worker-bmc-rack-1': ['10.3.0.0/16:6389'],
    };
    const none = { migrate: [], test: [], 'worker-control': [], 'worker-bmc-default': [], notifications: [] };
    expect(reach(judged(whole), 'ingress')).toEqual({ ...none, ...served });
  });

  test('where nothing is said of a network, nothing is let through to it; callers and browsers may come from anywhere', () => {
    const silent = judged({
      boot: { enabled: true, volume: { emptyDir: {} } },
      api: { ramdisks: { enabled: true } },
      bmc: { groups: [{ name: 'default', console: { publicUrl: 'https://console.example.org' } }] },
    });
    expect(reach(silent, 'egress')).toMatchObject({
      api: [],
      'api-ramdisks': [],
      'worker-bmc-default': ['boot:6386'],
      console: ['api:6385'],
      boot: [],
    });
    expect(reach(silent, 'ingress')).toMatchObject({
      api: ['any:6385', 'console:6385', 'test:6385'],
      'api-ramdisks': [],
      console: ['any:6380', 'test:6380'],
      boot: ['worker-bmc-default:6386'],
      'worker-bmc-default': [],
    });
  });

  /** What a container is told by the chart itself, and the ports that it is reached at. */
  const toldTo = (verdict: Verdict, name: string) => {
    const [container] = Object.fromEntries(podsOf(verdict))[`temper-${name}`]!.containers;
    return {
      env: Object.fromEntries((container!.env ?? []).map((one) => [one.name, one.value ?? one.valueFrom])),
      ports: Object.fromEntries((container!.ports ?? []).map((one) => [one.name, one.containerPort])),
      mounts: Object.fromEntries(container!.volumeMounts.map((one) => [one.name, one.readOnly ?? false])),
    };
  };
  const serviceOf = ({ documents }: Verdict, name: string) =>
    documents.find(({ kind, metadata }) => kind === 'Service' && metadata.name === `temper-${name}`)?.spec;

  test('a name or a number is taken as it stands, also one that YAML reads as something else', () => {
    const verdict = judged({
      settings: { prefix: '1e3', files: '123' },
      bmc: { groups: [{ name: 'none', replicas: 0, secret: 'true', group: 'Rack "7"\n: {{ x }}' }, { name: 'one' }] },
    });
    expect(verdict.faults).toEqual([]);
    const replicas = Object.fromEntries(
      verdict.documents.flatMap(({ kind, metadata, spec }) =>
        kind === 'Deployment' ? [[metadata.name, spec.replicas]] : [],
      ),
    );
    expect(replicas).toMatchObject({ 'temper-worker-bmc-none': 0, 'temper-worker-bmc-one': 1 });
    const [container] = Object.fromEntries(podsOf(verdict))['temper-worker-bmc-none']!.containers;
    expect(container!.envFrom.map(({ secretRef }) => secretRef.name)).toEqual(['1e3-shared', '1e3-bmc', 'true']);
    expect(toldTo(verdict, 'worker-bmc-none').env.TEMPER_CONDUCTOR_GROUP).toBe('Rack "7"\n: {{ x }}');
  });

  test('a pod of the API that is to end takes connections until balancers have turned away', () => {
    for (const name of ['api', 'api-ramdisks'])
      expect(toldTo(judged(whole), name).env).toMatchObject({ TEMPER_DRAIN_MS: '10000' });
  });

  test('serial lines are read by workers of the groups that say so, behind a service that any of them answers at', () => {
    const verdict = judged(whole);
    const { env, ports } = toldTo(verdict, 'worker-bmc-rack-1');
    expect(env).toMatchObject({
      TEMPER_SERIAL_CONSOLE_PUBLIC_URL: 'https://console-rack-1.example.org',
      TEMPER_SERIAL_CONSOLE_HOST: '0.0.0.0',
      TEMPER_SERIAL_CONSOLE_PORT: String(ports.console),
    });
    expect(serviceOf(verdict, 'worker-bmc-rack-1-console')).toMatchObject({
      type: 'ClusterIP',
      selector: { 'app.kubernetes.io/component': 'worker-bmc-rack-1' },
      ports: [{ port: 6389, targetPort: 'console' }],
    });
    const off = toldTo(verdict, 'worker-bmc-default');
    expect(Object.keys(off.env).filter((name) => name.startsWith('TEMPER_SERIAL'))).toEqual([]);
    expect(off.ports).not.toHaveProperty('console');
    expect(serviceOf(verdict, 'worker-bmc-default-console')).toBeUndefined();
  });

  test('ramdisks call a process of their own, from their own addresses, or through the boot service', () => {
    const verdict = judged(whole);
    expect(toldTo(verdict, 'api-ramdisks')).toMatchObject({
      env: { TEMPER_RAMDISK_LISTEN: '0.0.0.0:6387' },
      ports: { http: 6387 },
    });
    // By this the API refuses them, whatever its secret says.
    expect(toldTo(verdict, 'api').env).toMatchObject({ TEMPER_RAMDISK_LISTEN: '0.0.0.0:6387' });
    expect(toldTo(verdict, 'boot').env.TEMPER_BOOT_RAMDISK_API_URL).toBe('http://temper-api-ramdisks:6387');
    const inside = serviceOf(verdict, 'api-ramdisks');
    expect(inside).toMatchObject({
      selector: { 'app.kubernetes.io/component': 'api-ramdisks' },
      ports: [{ port: 6387, targetPort: 'http' }],
    });
    // Kubernetes refuses it of a service that is inside the cluster.
    expect(inside).not.toHaveProperty('externalTrafficPolicy');
    const outside = judged({ api: { ramdisks: { enabled: true } } });
    expect(serviceOf(outside, 'api-ramdisks')).toMatchObject({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    expect(toldTo(judged(), 'api').env).not.toHaveProperty('TEMPER_RAMDISK_LISTEN');
  });

  test('workers have names of their own, whatever their common secret says', () => {
    for (const name of ['worker-control', 'worker-bmc-default', 'worker-bmc-rack-1'])
      expect(toldTo(judged(whole), name).env.TEMPER_WORKER_HOSTNAME).toEqual({
        fieldRef: { fieldPath: 'metadata.name' },
      });
  });

  test("the engine's own metrics are told where they are wanted, and Prometheus alone fetches them", () => {
    const verdict = judged(whole);
    for (const name of ['worker-control', 'worker-bmc-default', 'worker-bmc-rack-1'])
      expect(toldTo(verdict, name)).toMatchObject({
        env: { TEMPER_SDK_METRICS_ADDRESS: '0.0.0.0:9091' },
        ports: { engine: 9091 },
      });
    const open = verdict.documents
      .filter(({ spec }) => spec.ingress?.some(({ ports }) => ports?.[0]?.port === 9091))
      .map(({ metadata, spec }) => [metadata.name, spec.ingress!.find(({ ports }) => ports?.[0]?.port === 9091)!.from]);
    const prometheus = [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }];
    expect(open).toEqual([
      ['temper-worker-control', prometheus],
      ['temper-worker-bmc-default', prometheus],
      ['temper-worker-bmc-rack-1', prometheus],
    ]);
    expect(toldTo(judged(), 'worker-control').env).not.toHaveProperty('TEMPER_SDK_METRICS_ADDRESS');
  });

  test('the boot service writes images of image records into its volume', () => {
    expect(toldTo(judged(whole), 'boot').mounts).toEqual({ tmp: false, files: true, images: false });
  });

  test('the API and the console have hosts of their own, over TLS alone', () => {
    const sites = judged(whole).documents.filter(({ kind }) => kind === 'Ingress');
    expect(sites.map(({ metadata, spec }) => [metadata.name, spec])).toEqual(
      [
        ['temper-api', 'temper.example.org', 'api-tls', { ingressClassName: 'nginx' }] as const,
        ['temper-console', 'console.example.org', 'console-tls', {}] as const,
      ].map(([name, host, secretName, more]) => [
        name,
        {
          ...more,
          tls: [{ hosts: [host], secretName }],
          rules: [
            {
              host,
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { name: 'http' } } } }],
              },
            },
          ],
        },
      ]),
    );
  });

  test('`helm test` asks the API and the console, and fails if one does not answer', async () => {
    const pod = judged().documents.find(({ kind }) => kind === 'Pod')!;
    expect(pod.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test' });
    const [container] = (pod.spec as unknown as Pod).containers;
    const [, script, ...urls] = container!.args;
    expect(urls).toEqual(['http://temper-api:6385/', 'http://temper-console:6380/sign-in']);
    let status = 200;
    const server = createServer((_, response) => response.writeHead(status).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const asked = async (): Promise<number> => {
      const child = spawn(process.execPath, ['-e', script!, `http://127.0.0.1:${port}/`], { stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      return code;
    };
    expect(await asked()).toBe(0);
    status = 503;
    expect(await asked()).toBe(1);
    server.close();
    expect(await asked()).toBe(1);
  });

  test('the example for production is right', () => {
    const example = parse(readFileSync(join(shipped, 'examples/production.yaml'), 'utf8'));
    expect(judged(example)).toMatchObject({ faults: [], kinds: { Ingress: 2, PodMonitor: 1 } });
  });

  test("its version is the product's", () => {
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
    expect(parse(readFileSync(join(shipped, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
  });
});
