/** Machines that read from a boot service, each on a connection of its own, as a process of its own that costs little itself. */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from './child';

export type ReadJob = {
  readonly port: number;
  /** One for each reader. */
  readonly paths: readonly string[];
  /** Of the file; of one range, or the whole file where absent. */
  readonly size: number;
  readonly range?: number;
  /** Requests of all readers together. */
  readonly requests: number;
  /** From one request of a reader to its next, milliseconds; absent: as fast as they are answered. */
  readonly everyMs?: number;
};
/** `times`: to the first byte of each answer, milliseconds. */
export type Reads = {
  readonly bytes: number;
  readonly seconds: number;
  readonly times: readonly number[];
  readonly failed: number;
};

type Answer = { readonly firstMs: number; readonly bytes: number; readonly ok: boolean };
type Reader = { ask(from: number, length: number): Promise<Answer>; close(): void };

const bufferBytes = 256 * 1024;
const endOfHead = '\r\n\r\n';

/** A connection that counts what it is sent, and keeps nothing of it. Throws where it ends. */
const openReader = (port: number, path: string, size: number): Promise<Reader> =>
  new Promise((opened, failed) => {
    let under: { began: number; firstMs: number; left: number; bytes: number; ok: boolean } | undefined;
    let settle: { done(answer: Answer): void; failed(error: Error): void } | undefined;
    const receive = (count: number, buffer: Uint8Array): boolean => {
      let body = count;
      if (!under || !settle) return true;
      if (under.left < 0) {
        under.firstMs = performance.now() - under.began;
        const text = Buffer.from(buffer.buffer, buffer.byteOffset, Math.min(count, 2_048)).toString('latin1');
        const end = text.indexOf(endOfHead);
        under.ok = /^HTTP\/1\.1 20[06] /.test(text) && end > 0;
        under.left = under.ok ? under.bytes : Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        body -= end + endOfHead.length;
      }
      under.left -= body;
      if (under.left > 0) return true;
      const { firstMs, bytes, ok } = under;
      under = undefined;
      settle.done({ firstMs, bytes, ok });
      return true;
    };
    const ask = (socket: Socket, from: number, length: number): Promise<Answer> =>
      new Promise((done, fail) => {
        settle = { done, failed: fail };
        under = { began: performance.now(), firstMs: 0, left: -1, bytes: length, ok: false };
        const range = length === size ? '' : `range: bytes=${from}-${from + length - 1}\r\n`;
        socket.write(`GET ${path} HTTP/1.1\r\nhost: boot\r\n${range}\r\n`);
      });
    const onread = { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback: receive };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    const gone = (error: Error) => {
      failed(error);
      settle?.failed(error);
    };
    socket.once('error', gone).once('close', () => gone(new Error('the connection was closed')));
    socket.once('connect', () =>
      opened({ ask: (from, length) => ask(socket, from, length), close: () => socket.destroy() }),
    );
  });

const run = async ({ port, paths, size, range = size, requests, everyMs }: ReadJob): Promise<Reads> => {
  const readers = await Promise.all(paths.map((path) => openReader(port, path, size)));
  const [times, ranges] = [[] as number[], Math.floor(size / range)];
  let [left, failed, bytes] = [requests, 0, 0];
  const readAll = async (reader: Reader, at: number): Promise<void> => {
    // Evenly over the first stretch, as machines do that were not powered on in the same millisecond.
    let next = performance.now() + (everyMs === undefined ? 0 : (at / readers.length) * everyMs);
    while (left > 0) {
      const from = (left % ranges) * range;
      left -= 1;
      if (everyMs !== undefined) await sleep(Math.max(0, next - performance.now()));
      const answer = await reader.ask(from, range).catch(() => undefined);
      if (answer?.ok) {
        times.push(answer.firstMs);
        bytes += answer.bytes;
      } else failed += 1;
      if (!answer) return;
      next += everyMs ?? 0;
    }
  };
  const began = performance.now();
  await Promise.all(readers.map(readAll));
  const seconds = (performance.now() - began) / 1_000;
  for (const reader of readers) reader.close();
  return { bytes, seconds, times, failed };
};

answerParent(run);
