/** A web server with one image, which a test can spoil. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type Image = {
  readonly url: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Downloads of the whole that have begun. */
  requests(): number;
  /** Bytes of the last download that were sent. */
  sent(): number;
  /** Whether downloads from now on end with another byte. */
  change(changed: boolean): void;
  /** Of a qcow2 file that no machine of the lab has the memory for. */
  readonly hugeUrl: string;
};

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex');
};

/** Magic, version 2, clusters of 64 KiB, a disk of 1 GiB: docs/interop/qcow2.txt of QEMU. */
const qcow2Header = (): Buffer => {
  const bytes = Buffer.alloc(1 << 16);
  bytes.write('QFI\xfb', 'latin1');
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(1n << 30n, 24);
  return bytes;
};

const zeros = Buffer.alloc(1 << 20);
const hugeBytes = (1 << 16) + 8_192 * zeros.length;

function* hugeFile(): Generator<Buffer> {
  yield qcow2Header();
  for (let piece = 0; piece < 8_192; piece++) yield zeros;
}

/** Passes a file of so many bytes on; `count` learns how many went, and the last byte is another where it is to be. */
const passing = (bytes: number, isChanged: () => boolean, count: (sent: number) => void): Transform => {
  let sent = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      sent += piece.length;
      count(sent);
      if (sent === bytes && isChanged()) piece[piece.length - 1]! ^= 1;
      done(null, piece);
    },
  });
};

/** Where a range ends that begins at the first byte, as those do who look what a file is; undefined without one. */
const firstBytes = (range: string | undefined, bytes: number): number | undefined => {
  const last = /^bytes=0-(\d+)$/.exec(range ?? '')?.[1];
  return last === undefined ? undefined : Math.min(Number(last), bytes - 1);
};

// A client that goes away ends its own download.
const gone = () => undefined;

/** Serves a file on an address, at a free port. */
export const serveImage = async (file: string, address: string): Promise<Image & { close(): void }> => {
  const bytes = statSync(file).size;
  let downloads = 0;
  let sent = 0;
  let changed = false;
  const count = (now: number) => {
    sent = now;
  };
  const server = createServer((request, response) => {
    const first = firstBytes(request.headers.range, bytes);
    if (first !== undefined) {
      const headers = { 'content-range': `bytes 0-${first}/${bytes}`, 'content-length': first + 1 };
      response.writeHead(206, headers);
      return void pipeline(createReadStream(file, { end: first }), response).catch(gone);
    }
    const isHuge = request.url === '/huge.qcow2';
    const length = isHuge ? hugeBytes : bytes;
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': length });
    if (request.method !== 'GET') return void response.end();
    if (isHuge) return void pipeline(Readable.from(hugeFile()), response).catch(gone);
    downloads++;
    void pipeline(
      createReadStream(file),
      passing(bytes, () => changed, count),
      response,
    ).catch(gone);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const base = `http://${address}:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/system.raw`,
    hugeUrl: `${base}/huge.qcow2`,
    sha256: await digestOf(file),
    bytes,
    requests: () => downloads,
    sent: () => sent,
    change: (to) => {
      changed = to;
    },
    close: () => {
      server.close();
      // A machine that lost its power in the middle of a download has not closed its connection.
      server.closeAllConnections();
    },
  };
};
