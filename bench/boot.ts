/** Many machines that read their boot images at once by small ranges, beside nginx with the same bytes as a plain file. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BootAnswer, BootQuestion } from './boot-host';
import type { ReadJob, Reads } from './boot-readers';
import { type Helper, startHelper } from './child';
import { cpuByGroup, cpuSince, memoryOf } from './processes';
import { amount, cpu, ms, rate, table } from './table';

const range = 64 * 1024;
const bytes = 64 * 1024 * 1024;
const plain = 'plain.iso';

type Served = Reads & {
  readonly server: string;
  /** Processor ms of the serving processes a request; null where the machine does not tell. */
  readonly cpu: number | null;
  /** MiB, resident, after the reads. */
  readonly resident: number;
};
export type BootFigures = {
  readonly readers: number;
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

/** Debian's own settings as far as they count: a process for each processor, sendfile. */
const nginxConfig = (folder: string, port: number): string => `
worker_processes auto; pid ${folder}/nginx.pid; error_log ${folder}/error.log; daemon off; user root;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_timeout 65; keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; root ${folder}; }
}
`;

const startNginx = async (folder: string): Promise<{ url: string; child: ChildProcess } | undefined> => {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined;
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), nginxConfig(folder, port));
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(url).then(() => true, () => false)) break; // biome-ignore format: one look
    await sleep(50);
  }
  return { url, child };
};

type Readers = Helper<ReadJob, Reads>;

const measured = async (server: string, pid: number, readers: Readers, job: ReadJob): Promise<Served> => {
  // Files, code and connections are warm before it counts.
  await readers.ask({ ...job, requests: job.paths.length });
  const processes = [{ name: server, pid }];
  const before = cpuByGroup(processes);
  const reads = await readers.ask(job);
  const used = cpuSince(before, processes)[server];
  const [memory] = memoryOf(processes);
  return {
    server,
    ...reads,
    cpu: used === undefined ? null : used / job.requests,
    resident: memory!.resident,
  };
};

/** Writes an image by its digest, and as a plain file. @returns the digest */
const imageIn = (folder: string): string => {
  const image = randomBytes(bytes);
  const sha256 = createHash('sha256').update(image).digest('hex');
  for (const name of [`${sha256}.iso`, plain]) writeFileSync(join(folder, name), image);
  return sha256;
};

/** @param nodes machines that read at once */
export const measureBoot = async (
  { nodes, requests }: { readonly nodes: number; readonly requests: number },
  say: (line: string) => void,
): Promise<BootFigures> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-boot-'));
  const host = startHelper<BootQuestion, BootAnswer>('boot-host', [folder]);
  const readers: Readers = startHelper('boot-readers');
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  try {
    const { port, paths } = await host.ask({ nodes, bytes, sha256: imageIn(folder) });
    const job = { size: bytes, range, requests };
    say(`${nodes} machines read their images by ranges of 64 KiB`);
    const own = await measured('boot service', host.pid, readers, { ...job, url: `http://127.0.0.1:${port}`, paths });
    nginx = await startNginx(folder);
    if (!nginx) return { readers: nodes, own };
    const { url, child } = nginx;
    const plainPaths = paths.map(() => `/${plain}`);
    const other = await measured('nginx', child.pid!, readers, { ...job, url, paths: plainPaths });
    return { readers: nodes, own, nginx: other };
  } finally {
    nginx?.child.kill();
    await Promise.all([host.stop(), readers.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
};

export const bootTables = ({ readers, own, nginx }: BootFigures): string[] => [
  `${readers} machines read their boot images by ranges of 64 KiB${nginx ? '' : '; there is no nginx to compare with'}`,
  table(
    ['server', '/s', 'MB/s', 'first byte p99', 'cpu', 'MiB', 'failed'],
    [own, ...(nginx ? [nginx] : [])].map((one) => [
      one.server,
      rate(one.perSecond),
      rate((one.perSecond * range) / 1e6),
      ms(one.p99),
      cpu(one.cpu),
      amount(one.resident),
      String(one.failed),
    ]),
  ),
];
