/** What is kept of a boot between its requests: a thousand machines that read at once cost neither a digest nor an archive each time. */
import type { FileHandle } from 'node:fs/promises';
import { createContents } from '../../src/boot/contents';
import { patchesOf } from '../../src/boot/patches';
import type { Served } from '../../src/inventory/nodes/boot-capabilities';
import { newUrlToken } from '../../src/inventory/secrets/boot-tokens';

const room = { arguments_at: 70_000, arguments_bytes: 1_024, files_at: 300_001, files_bytes: 65_536 };
const servedOf = (line: string): Served => ({
  node_uuid: 'n' as Served['node_uuid'],
  run_id: 'r' as Served['run_id'],
  arguments: line,
  inspection_url: null,
  network: false,
  ramdisk: { iso_sha256: 'a'.repeat(64), iso_bytes: 1 << 20, ...room, kernel_sha256: null, initrd_sha256: null },
});
const files = [{ path: 'etc/x', content: Buffer.from('x') }];

test('all boots share the archive of small files', () => {
  const [one, other] = [newUrlToken(), newUrlToken()].map((token) => patchesOf(servedOf('quiet'), token, files));
  expect(one![1]!.bytes).toBe(other![1]!.bytes);
  expect(one![0]!.bytes).not.toEqual(other![0]!.bytes);
  // Another process setting, or an image with another room, has its own.
  expect(patchesOf(servedOf('quiet'), newUrlToken(), [])[1]!.bytes).not.toBe(one![1]!.bytes);
  const wider = { ...servedOf('quiet'), ramdisk: { ...servedOf('quiet').ramdisk, files_bytes: 70_000 } };
  expect(patchesOf(wider, newUrlToken(), files)[1]!.bytes).toHaveLength(70_000);
});

test('the content of a URL is made once, and anew where the store says another thing of it', async () => {
  let now: Served | undefined = servedOf('quiet');
  let asked = 0;
  const find = createContents({
    inventory: {
      bootCapabilities: {
        served: async () => {
          asked += 1;
          // As a store does: another object each time.
          return now && structuredClone(now);
        },
      },
    },
    images: { find: async () => ({ fd: 1 }) as FileHandle },
    files,
    log: { info() {}, warn() {} },
    trustedMs: 1,
  });
  const token = newUrlToken();
  /** The content once the store has been asked for it again. */
  const again = async () => {
    const before = asked;
    for (;;) {
      const content = await find(token, 'ramdisk.iso');
      if (asked > before) return content;
      await new Promise((done) => setImmediate(done));
    }
  };
  const first = await again();
  expect(first).toBeDefined();
  expect(await again()).toBe(first);
  now = servedOf('quiet debug');
  const second = await again();
  expect(second?.etag).not.toBe(first?.etag);
  now = undefined;
  expect(await again()).toBeUndefined();
  now = servedOf('quiet debug');
  expect(await again()).toBe(second);
});
