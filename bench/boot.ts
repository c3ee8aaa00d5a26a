/** Many machines that read their boot images at once by small ranges, and some that read a large image, beside nginx with the same files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchFile, writeBenchFile } from './boot-files';
import type { BootAnswer, BootQuestion } from './boot-host';
import type { ReadJob, Reads } from './boot-readers';
import { type Helper, startHelper } from './child';
import { pin, processorsApart } from './pinning';
import { cpuByGroup, cpuSince, residentMiB } from './processes';
import { percentile } from './stats';
import { amount, cpu, ms, rate, table } from './table';

const range = 64 * 1024;
const mib = 2 ** 20;
const isoMiB = 64;
/** Requests a second at which the time to the first byte is measured: 1 Gbit/s, as a network of provisioning has. */
const pacedPerSecond = 1_900;
const turns = 2;

type Effort = {
  /** Machines that read at once. */
  readonly nodes: number;
  readonly requests: number;
  readonly image: { readonly mib: number; readonly readers: number };
};

type Figures = {
  readonly perSecond: number;
  readonly mbPerSecond: number;
  readonly p99: number;
  readonly failed: number;
  /** Processor ms of the serving process a request; null where the machine does not tell. */
  readonly cpu: number | null;
};
/** The better of some turns with one server, for what else runs on the machine takes from each. */
type Served = {
  readonly ranges: Figures;
  readonly paced: Figures;
  readonly image: Figures;
  /** MiB, resident, at most. */
  readonly resident: number;
};
export type BootFigures = {
  readonly effort: Effort;
  readonly pinned: boolean;
  /** Load of the machine before and after. */
  readonly load: readonly [number, number];
  readonly own: Served;
  /** Absent where there is no nginx. */
  readonly nginx?: Served;
};

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });

/** Debian's own settings as far as they count, sendfile among them; one process, as the boot service has. */
const nginxConfig = (folder: string, port: number): string => `
worker_processes 1; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; daemon off; user root;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_timeout 65; keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; root ${folder}; }
}
`;

type Serving = { readonly pid: number; readonly port: number; readonly iso: string[]; readonly image: string[] };

const startNginx = async (folder: string): Promise<{ port: number; child: ChildProcess } | undefined> => {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined;
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), nginxConfig(folder, port));
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(`http://127.0.0.1:${port}`).then(() => true, () => false)) break; // biome-ignore format: one look
    await sleep(50);
  }
  return { port, child };
};

/** The most that a process has had in memory, MiB; what it has now where the machine does not tell. */
const mostResident = (pid: number): number => {
  try {
    const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) / 1_024;
  } catch {
    return residentMiB(pid);
  }
};

type Readers = readonly Helper<ReadJob, Reads>[];

/** The job in equal parts for each process of readers. */
const sharedOut = (job: ReadJob, parts: number): ReadJob[] =>
  Array.from({ length: parts }, (_, part) => ({
    ...job,
    paths: job.paths.filter((_path, at) => at % parts === part),
    requests: Math.ceil(job.requests / parts),
  }));

const measured = async (pid: number, readers: Readers, job: ReadJob): Promise<Figures> => {
  const processes = [{ name: 'server', pid }];
  const before = cpuByGroup(processes);
  const jobs = sharedOut(job, readers.length);
  const reads = await Promise.all(readers.map((reader, at) => reader.ask(jobs[at]!)));
  const used = cpuSince(before, processes).server;
  const seconds = Math.max(...reads.map((one) => one.seconds));
  const times = reads.flatMap((one) => one.times);
  return {
    perSecond: times.length / seconds,
    mbPerSecond: reads.reduce((sum, { bytes }) => sum + bytes, 0) / seconds / 1e6,
    p99: percentile(times, 0.99),
    failed: reads.reduce((sum, one) => sum + one.failed, 0),
    cpu: used === undefined ? null : used / times.length,
  };
};

const better = (one: Figures | undefined, other: Figures): Figures =>
  one && one.perSecond > other.perSecond ? one : other;
const quicker = (one: Figures | undefined, other: Figures): Figures => (one && one.p99 < other.p99 ? one : other);

/** One turn with a server: ranges as fast as it can, then at the pace of a network, then an image as a whole. */
const turn = async (
  { pid, port, iso, image }: Serving,
  readers: Readers,
  { nodes, requests, image: { mib: imageMiB } }: Effort,
  before: Served | undefined,
): Promise<Served> => {
  const ranges: ReadJob = { port, paths: iso, size: isoMiB * mib, range, requests };
  // Files, code and connections are warm before it counts.
  await measured(pid, readers, { ...ranges, requests: iso.length });
  const fast = await measured(pid, readers, ranges);
  const everyMs = (nodes * 1_000) / pacedPerSecond;
  const paced = await measured(pid, readers, { ...ranges, requests: Math.min(requests, 5 * pacedPerSecond), everyMs });
  const whole: ReadJob = { port, paths: image, size: imageMiB * mib, requests: image.length };
  await measured(pid, readers, { ...whole, range, requests: image.length });
  const images = await measured(pid, readers, whole);
  return {
    ranges: better(before?.ranges, fast),
    paced: quicker(before?.paced, paced),
    image: better(before?.image, images),
    resident: mostResident(pid),
  };
};

type Files = { readonly iso: BenchFile; readonly image: BenchFile };

const servings = async (folder: string, host: Helper<BootQuestion, BootAnswer>, effort: Effort, files: Files) => {
  const { nodes, image } = effort;
  const { port, iso, images } = await host.ask({ nodes, readers: image.readers, iso: files.iso, image: files.image });
  const own: Serving = { pid: host.pid, port, iso: [...iso], image: [...images] };
  const nginx = await startNginx(folder);
  const plain = (file: BenchFile, count: number) => Array.from({ length: count }, () => `/${file.plain}`);
  const other = nginx && {
    ...{ pid: nginx.child.pid!, port: nginx.port },
    ...{ iso: plain(files.iso, nodes), image: plain(files.image, image.readers) },
  };
  return { own, other, end: () => nginx?.child.kill() };
};

/** Turns with each server after the other. */
const takeTurns = async (own: Serving, other: Serving | undefined, readers: Readers, effort: Effort) => {
  const before = loadavg()[0]!;
  let [ours, theirs]: [Served | undefined, Served | undefined] = [undefined, undefined];
  for (let at = 0; at < turns; at++) {
    ours = await turn(own, readers, effort, ours);
    if (other) theirs = await turn(other, readers, effort, theirs);
  }
  return { own: ours!, ...(theirs && { nginx: theirs }), load: [before, loadavg()[0]!] as const };
};

export const measureBoot = async (effort: Effort, say: (line: string) => void): Promise<BootFigures> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-boot-'));
  const host = startHelper<BootQuestion, BootAnswer>('boot-host', [folder]);
  const readers: Readers = [startHelper('boot-readers'), startHelper('boot-readers')];
  const apart = processorsApart();
  let end = () => {};
  try {
    const files = {
      iso: writeBenchFile(folder, 'iso', isoMiB * mib),
      image: writeBenchFile(folder, 'img', effort.image.mib * mib),
    };
    const serving = await servings(folder, host, effort, files);
    end = serving.end;
    for (const one of [serving.own, serving.other]) if (one && apart) pin(one.pid, apart.measured);
    if (apart) for (const { pid } of readers) pin(pid, apart.asking);
    say(`${effort.nodes} machines read their boot images, ${effort.image.readers} one of ${effort.image.mib} MiB`);
    const found = await takeTurns(serving.own, serving.other, readers, effort);
    return { effort, pinned: apart !== undefined, ...found };
  } finally {
    end();
    await Promise.all([host.stop(), ...readers.map((one) => one.stop())]);
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Of what is measured, by that of nginx. */
export const sharesOf = ({
  own,
  nginx,
}: BootFigures): { readonly ranges: number; readonly image: number } | undefined =>
  nginx && {
    ranges: own.ranges.perSecond / nginx.ranges.perSecond,
    image: own.image.mbPerSecond / nginx.image.mbPerSecond,
  };

export const bootTables = ({ effort, pinned, load, own, nginx }: BootFigures): string[] => {
  const { nodes, image } = effort;
  const where = pinned
    ? 'each server is one process on processor 0 (taskset), its readers are on the others'
    : 'not pinned: taskset is missing, or there are fewer than 3 processors';
  const rows = [{ server: 'boot service', ...own }, ...(nginx ? [{ server: 'nginx', ...nginx }] : [])];
  const rowOf = (server: string, what: string, { perSecond, mbPerSecond, p99, cpu: used, failed }: Figures) => [
    ...[server, what, rate(perSecond), rate(mbPerSecond), ms(p99), cpu(used), String(failed)],
  ];
  return [
    `${nodes} machines read boot images by ranges of 64 KiB, ${image.readers} an image of ${image.mib} MiB; better of ${turns} turns, one server after the other`,
    `${where}; load average ${load[0].toFixed(1)} before, ${load[1].toFixed(1)} after${nginx ? '' : '; there is no nginx to compare with'}`,
    table(
      ['server', 'reading', '/s', 'MB/s', 'first byte p99', 'cpu', 'failed'],
      rows.flatMap(({ server, ranges, paced, image: whole }) => [
        rowOf(server, 'ranges, as fast as they can', ranges),
        rowOf(server, `ranges, ${pacedPerSecond} a second`, paced),
        rowOf(server, 'the image', whole),
      ]),
    ),
    `memory at most, MiB: ${rows.map(({ server, resident }) => `${server} ${amount(resident)}`).join(', ')}`,
  ];
};
